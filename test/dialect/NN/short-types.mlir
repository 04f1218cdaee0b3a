// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// Types that follow from others may be left out when a model is written; all are printed.

// CHECK-LABEL: nn.block @layer
nn.block @layer(%x: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %g   = param "ln_1.weight" : tensor<8xf32> init ones
  %b   = param "ln_1.bias" : tensor<8xf32> init zeros
  %w   = param "mlp.fc.weight" : tensor<8x8xf32> init normal(0.02)
  %c   = param "mlp.fc.bias" : tensor<8xf32> init zeros
  // CHECK: %ln_1 = layer_norm %x, %ln_1.weight, %ln_1.bias : tensor<?x4x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<?x4x8xf32>
  %n   = layer_norm %x, %g, %b : tensor<?x4x8xf32>
  // CHECK: rms_norm %ln_1, %ln_1.weight eps(1.0e-6) : tensor<?x4x8xf32>, tensor<8xf32> -> tensor<?x4x8xf32>
  %r   = rms_norm %n, %g eps(1e-6) : tensor<?x4x8xf32>
  %h   = linear %r, %w : tensor<?x4x8xf32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  // CHECK: add %mlp_fc, %mlp.fc.bias : tensor<?x4x8xf32>, tensor<8xf32> -> tensor<?x4x8xf32>
  %a   = add %h, %c : tensor<?x4x8xf32>, tensor<8xf32>
  // CHECK: gelu %add : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
  %f   = gelu %a : tensor<?x4x8xf32>
  // CHECK: mul %gelu, %x : tensor<?x4x8xf32>, tensor<?x4x8xf32> -> tensor<?x4x8xf32>
  %y   = mul %f, %x : tensor<?x4x8xf32>
  return %y : tensor<?x4x8xf32>
}
// CHECK-LABEL: nn.model @gpt
nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e   = embedding %tokens, %wte : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  // CHECK: %h = repeat @layer(%wte_0) 6 as "h" : tensor<?x4x8xf32>
  %y   = repeat @layer(%e) 6 as "h" : tensor<?x4x8xf32>
  // CHECK: cross_entropy %h, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  %sum, %count = cross_entropy %y, %next : tensor<?x4x8xf32>, tensor<?x4xi32>
  return %sum, %count : tensor<f32>, tensor<i64>
}
