// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// eps is 1e-8 unless said.

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%p: tensor<4x2xf32>, %g: tensor<4x2xf32>, %m: tensor<4x2xf32>, %v: tensor<4x2xf32>, %r: tensor<f32>, %c: tensor<f32>, %s: tensor<i64>) {
  // CHECK-NEXT: %adamw_next, %adamw_next_m, %adamw_next_v = adamw %p, %g, %m, %v rate %r clip %c step %s(betas = [0.9, 0.95], weight_decay = 0.1, lr_scale = 1.0) : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<f32>, tensor<f32>, tensor<i64> -> tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>{{$}}
  %0, %1, %2 = adamw %p, %g, %m, %v rate %r clip %c step %s (betas = [0.9, 0.95], weight_decay = 0.1, lr_scale = 1) : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<f32>, tensor<f32>, tensor<i64> -> tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
  return
}

// CHECK-LABEL: nn.block @b1(
nn.block @b1(%p: tensor<4x2xf32>, %g: tensor<4x2xf32>, %m: tensor<4x2xf32>, %v: tensor<4x2xf32>, %r: tensor<f32>, %c: tensor<f32>, %s: tensor<i64>) {
  // CHECK-NEXT: %adamw_next, %adamw_next_m, %adamw_next_v = adamw %p, %g, %m, %v rate %r clip %c step %s(betas = [0.0, 0.5], eps = 1.0e-6, weight_decay = 0.0, lr_scale = 0.5) : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<f32>, tensor<f32>, tensor<i64> -> tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>{{$}}
  %0, %1, %2 = adamw %p, %g, %m, %v rate %r clip %c step %s (lr_scale = 0.5, eps = 1e-6, weight_decay = 0, betas = [0, 0.5]) : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<f32>, tensor<f32>, tensor<i64> -> tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
  return
}

// Where %o is not 0 everything stays as it is.
// CHECK-LABEL: nn.block @b2(
nn.block @b2(%p: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>, %r: tensor<f32>, %c: tensor<f32>, %s: tensor<i64>, %o: tensor<f32>) {
  // CHECK-NEXT: adamw %p, %g, %m, %v rate %r clip %c step %s unless %o(betas = [0.9, 0.95], weight_decay = 0.1, lr_scale = 1.0) : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<i64>, tensor<f32> -> tensor<4xf32>, tensor<4xf32>, tensor<4xf32>{{$}}
  %0, %1, %2 = adamw %p, %g, %m, %v rate %r clip %c step %s unless %o (betas = [0.9, 0.95], weight_decay = 0.1, lr_scale = 1) : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<i64>, tensor<f32> -> tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}
