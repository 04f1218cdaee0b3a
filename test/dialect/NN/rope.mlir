// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// Options stand in any order and print in one.

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<?x5x3x6xf32>, %p: tensor<?x5xi32>) {
  // CHECK-NEXT: %rope = rope %x at %p : tensor<?x5x3x6xf32>, tensor<?x5xi32> -> tensor<?x5x3x6xf32>{{$}}
  %0 = rope %x at %p : tensor<?x5x3x6xf32>, tensor<?x5xi32> -> tensor<?x5x3x6xf32>
  // CHECK-NEXT: %rope_0 = rope inverse %x at %p theta(5.0e5) dims(4) interleaved position_scale(0.5) : tensor<?x5x3x6xf32>, tensor<?x5xi32> -> tensor<?x5x3x6xf32>{{$}}
  %1 = rope inverse %x at %p position_scale(0.5) interleaved dims(4) theta(5e5) : tensor<?x5x3x6xf32>, tensor<?x5xi32> -> tensor<?x5x3x6xf32>
  return
}
