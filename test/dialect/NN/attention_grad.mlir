// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%d: tensor<2x4x3x2xf32>, %q: tensor<2x4x3x5xf32>, %k: tensor<2x4x3x5xf32>, %v: tensor<2x4x3x2xf32>, %p: tensor<2x4xi32>, %y: tensor<2x4x3x2xf32>, %l: tensor<2x4x3xf32>) {
  // CHECK-NEXT: %attention_grad_dq, %attention_grad_dk, %attention_grad_dv = attention_grad %d, %q, %k, %v at %p, %p, %y, %l causal scale(0.5) : tensor<2x4x3x2xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x2xf32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4x3x2xf32>, tensor<2x4x3xf32> -> tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x2xf32>{{$}}
  %0, %1, %2 = attention_grad %d, %q, %k, %v at %p, %p, %y, %l causal scale(0.5) : tensor<2x4x3x2xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x2xf32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4x3x2xf32>, tensor<2x4x3xf32> -> tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x2xf32>
  return
}

// CHECK-LABEL: nn.block @b1(
nn.block @b1(%d: tensor<2x4x3x2x2xf32>, %q: tensor<2x4x3x2x5xf32>, %k: tensor<2x4x3x5xf32>, %v: tensor<2x4x3x2xf32>, %p: tensor<2x4xi32>, %y: tensor<2x4x3x2x2xf32>, %l: tensor<2x4x3x2xf32>) {
  // CHECK-NEXT: %attention_grad_dq, %attention_grad_dk, %attention_grad_dv = attention_grad %d, %q, %k, %v at %p, %p, %y, %l full scale(0.5) window(3) softcap(2.0) : tensor<2x4x3x2x2xf32>, tensor<2x4x3x2x5xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x2xf32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4x3x2x2xf32>, tensor<2x4x3x2xf32> -> tensor<2x4x3x2x5xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x2xf32>{{$}}
  %0, %1, %2 = attention_grad %d, %q, %k, %v at %p, %p, %y, %l full scale(0.5) window(3) softcap(2) : tensor<2x4x3x2x2xf32>, tensor<2x4x3x2x5xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x2xf32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4x3x2x2xf32>, tensor<2x4x3x2xf32> -> tensor<2x4x3x2x5xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x2xf32>
  return
}

// CHECK-LABEL: nn.block @b2(
nn.block @b2(%d: tensor<2x4x3x2xf32>, %q: tensor<2x4x3x5xf32>, %k: tensor<2x4x3x5xf32>, %v: tensor<2x4x3x2xf32>, %p: tensor<2x4xi32>, %y: tensor<2x4x3x2xf32>, %l: tensor<2x4x3xf32>, %c: tensor<2x4xi32>) {
  // CHECK-NEXT: attention_grad %d, %q, %k, %v at %p, %p, %y, %l documents %c, %c causal scale(0.5) : tensor<2x4x3x2xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x2xf32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4x3x2xf32>, tensor<2x4x3xf32>, tensor<2x4xi32>, tensor<2x4xi32> -> tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x2xf32>{{$}}
  %0, %1, %2 = attention_grad %d, %q, %k, %v at %p, %p, %y, %l documents %c, %c causal scale(0.5) : tensor<2x4x3x2xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x2xf32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4x3x2xf32>, tensor<2x4x3xf32>, tensor<2x4xi32>, tensor<2x4xi32> -> tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x2xf32>
  return
}
