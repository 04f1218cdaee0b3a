// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// A model says the rate; the training step says what the mask is a function of, a partitioned one where shards begin, a
// kernel the number of the stream.

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<?x5x6xf32>, %p: tensor<?x5xi32>) {
  // CHECK-NEXT: %dropout = dropout %x at %p rate(0.1) : tensor<?x5x6xf32>, tensor<?x5xi32> -> tensor<?x5x6xf32>{{$}}
  %0 = dropout %x at %p rate(0.1) : tensor<?x5x6xf32>, tensor<?x5xi32> -> tensor<?x5x6xf32>
  return
}

// CHECK-LABEL: func.func @f0(
func.func @f0(%x: tensor<2x5x3x2xf32>, %p: tensor<2x5xi32>, %d: tensor<2xi32>, %o: i64, %n: i64) {
  // CHECK: nn.dropout %{{.*}} at %{{.*}} rate(0.1) draws %{{.*}} of [6, 2] stream "h.3.attn" : tensor<2x5x3x2xf32>, tensor<2x5xi32>, tensor<2xi32> -> tensor<2x5x3x2xf32>{{$}}
  %0 = nn.dropout %x at %p rate(1e-1) draws %d of [6, 2] stream "h.3.attn" : tensor<2x5x3x2xf32>, tensor<2x5xi32>, tensor<2xi32> -> tensor<2x5x3x2xf32>
  // CHECK: nn.dropout %{{.*}} at %{{.*}} rate(0.1) draws %{{.*}} of [6, 2] number %{{.*}} offsets %{{.*}} dims [2] : tensor<2x5x3x2xf32>, tensor<2x5xi32>, tensor<2xi32> -> tensor<2x5x3x2xf32>{{$}}
  %1 = nn.dropout %x at %p rate(0.1) draws %d of [6, 2] number %n offsets %o dims [2] : tensor<2x5x3x2xf32>, tensor<2x5xi32>, tensor<2xi32> -> tensor<2x5x3x2xf32>
  return
}
