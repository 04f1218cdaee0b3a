// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// Every conversion that there is.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant, %v = %x : tensor<4x8xf32> as varying(1), %u = %w : tensor<8x6xf32> as varying(0)) -> (tensor<4x8xf32> as invariant) {
    // CHECK: dist.convert %{{.*}} over "tp" invariant to replicated : tensor<4x8xf32> -> tensor<4x8xf32>
    %0 = dist.convert %a over "tp" invariant to replicated : tensor<4x8xf32> -> tensor<4x8xf32>
    // CHECK: dist.convert %{{.*}} over "tp" invariant to varying(0) by slice : tensor<4x8xf32> -> tensor<2x8xf32>
    %1 = dist.convert %a over "tp" invariant to varying(0) by slice : tensor<4x8xf32> -> tensor<2x8xf32>
    // CHECK: dist.convert %{{.*}} over "tp" varying(0) to varying(1) by all_to_all : tensor<2x8xf32> -> tensor<4x4xf32>
    %2 = dist.convert %1 over "tp" varying(0) to varying(1) by all_to_all : tensor<2x8xf32> -> tensor<4x4xf32>
    // CHECK: dist.convert %{{.*}} over "tp" varying(1) to replicated by all_gather : tensor<4x4xf32> -> tensor<4x8xf32>
    %3 = dist.convert %2 over "tp" varying(1) to replicated by all_gather : tensor<4x4xf32> -> tensor<4x8xf32>
    // CHECK: dist.convert %{{.*}} over "tp" varying(1) to invariant by all_gather : tensor<4x4xf32> -> tensor<4x8xf32>
    %4 = dist.convert %v over "tp" varying(1) to invariant by all_gather : tensor<4x4xf32> -> tensor<4x8xf32>
    %p = linear %v, %u : tensor<4x4xf32>, tensor<4x6xf32> -> tensor<4x6xf32>
    // CHECK: dist.convert %{{.*}} over "tp" partial to invariant by all_reduce : tensor<4x6xf32> -> tensor<4x6xf32>
    %5 = dist.convert %p over "tp" partial to invariant by all_reduce : tensor<4x6xf32> -> tensor<4x6xf32>
    // CHECK: dist.convert %{{.*}} over "tp" partial to replicated by all_reduce : tensor<4x6xf32> -> tensor<4x6xf32>
    %6 = dist.convert %p over "tp" partial to replicated by all_reduce : tensor<4x6xf32> -> tensor<4x6xf32>
    // CHECK: dist.convert %{{.*}} over "tp" partial to varying(1) by reduce_scatter : tensor<4x6xf32> -> tensor<4x3xf32>
    %7 = dist.convert %p over "tp" partial to varying(1) by reduce_scatter : tensor<4x6xf32> -> tensor<4x3xf32>
    return %4 : tensor<4x8xf32>
  }
  return
}
