// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
func.func @f(%x: tensor<2x4xf32>, %y: tensor<f32>) {
  // CHECK: dist.all_reduce sum %{{.*}} over "tp" because "why" : tensor<2x4xf32> -> tensor<2x4xf32> in "h.0.attn" backward
  %0 = dist.all_reduce sum %x over "tp" because "why" : tensor<2x4xf32> -> tensor<2x4xf32> in "h.0.attn" backward
  // CHECK: dist.all_reduce max %{{.*}}, %{{.*}} over {"dp", "tp":(1)2} stages [0, 3] because "why" : tensor<2x4xf32>, tensor<f32> -> tensor<2x4xf32>, tensor<f32>
  %1:2 = dist.all_reduce max %x, %y over {"dp", "tp":(1)2} stages [0, 3] because "why" : tensor<2x4xf32>, tensor<f32> -> tensor<2x4xf32>, tensor<f32>
  // CHECK: on [#dist.shard<tensor<4x4xf32>, #dp_r>]
  %2 = dist.all_reduce sum %x over "tp" because "why" : tensor<2x4xf32> -> tensor<2x4xf32> on [#dist.shard<tensor<4x4xf32>, #dist.sharding<@m, [{"dp"}, {}]>>]
  return
}
