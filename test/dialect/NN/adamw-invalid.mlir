// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%p: tensor<4x2xf32>, %g: tensor<4x3xf32>, %m: tensor<8xf32>, %v: tensor<4x2xf32>, %r: tensor<f64>, %c: tensor<1xf32>, %s: tensor<i32>) {
  // expected-error-re @+6 {{{{^}}'nn.adamw' op element type of new_m is 'bf16', expected 'f32' (that of param){{$}}}}
  // expected-error-re @+5 {{{{^}}'nn.adamw' op element type of rate is 'f64', expected 'f32'{{$}}}}
  // expected-error-re @+4 {{{{^}}'nn.adamw' op element type of step is 'i32', expected 'i64'{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.adamw' op dimension 1 of grad is 3, expected 2 (dimension 1 of param){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.adamw' op m has 1 dimension, expected 2 (d0 d1){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.adamw' op clip has 1 dimension, expected none{{$}}}}
  %0, %1, %2 = adamw %p, %g, %m, %v rate %r clip %c step %s (betas = [0.9, 0.95], weight_decay = 0.1, lr_scale = 1) : tensor<4x2xf32>, tensor<4x3xf32>, tensor<8xf32>, tensor<4x2xf32>, tensor<f64>, tensor<1xf32>, tensor<i32> -> tensor<4x2xf32>, tensor<4x2xbf16>, tensor<4x2xf32>
  return
}

// -----

nn.block @b(%p: tensor<4x2xf32>, %g: tensor<4x2xf32>, %m: tensor<4x2xf32>, %v: tensor<4x2xf32>, %r: tensor<f32>, %c: tensor<f32>, %s: tensor<i64>) {
  // expected-error-re @+5 {{{{^}}'nn.adamw' op beta is 1.0, expected at least 0 and less than 1{{$}}}}
  // expected-error-re @+4 {{{{^}}'nn.adamw' op beta is -0.5, expected at least 0 and less than 1{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.adamw' op eps is 0.0, expected more than 0{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.adamw' op weight_decay is -0.1, expected at least 0{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.adamw' op lr_scale is -1.0, expected at least 0{{$}}}}
  %0, %1, %2 = adamw %p, %g, %m, %v rate %r clip %c step %s (betas = [1, -0.5], eps = 0, weight_decay = -0.1, lr_scale = -1) : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<f32>, tensor<f32>, tensor<i64> -> tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
  return
}

// -----

nn.block @b(%p: tensor<4x2xf32>, %g: tensor<4x2xf32>, %m: tensor<4x2xf32>, %v: tensor<4x2xf32>, %r: tensor<f32>, %c: tensor<f32>, %s: tensor<i64>) {
  // expected-error-re @+1 {{{{^}}custom op 'nn.adamw' adamw has two betas, found 1{{$}}}}
  %0, %1, %2 = adamw %p, %g, %m, %v rate %r clip %c step %s (betas = [0.9], weight_decay = 0.1, lr_scale = 1) : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<f32>, tensor<f32>, tensor<i64> -> tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
  return
}

// -----

nn.block @b(%p: tensor<4xi32>, %g: tensor<4xi32>, %m: tensor<4xi32>, %v: tensor<4xi32>, %r: tensor<f32>, %c: tensor<f32>, %s: tensor<i64>) {
  // expected-error-re @+1 {{{{^}}'nn.adamw' op element type of param is 'i32', expected a float type{{$}}}}
  %0, %1, %2 = adamw %p, %g, %m, %v rate %r clip %c step %s (betas = [0.9, 0.95], weight_decay = 0.1, lr_scale = 1) : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<f32>, tensor<f32>, tensor<i64> -> tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
  return
}

// -----

nn.block @b(%p: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>, %r: tensor<f32>, %c: tensor<f32>, %s: tensor<i64>, %o: tensor<4xi32>) {
  // expected-error-re @+2 {{{{^}}'nn.adamw' op unless has 1 dimension, expected none{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.adamw' op element type of unless is 'i32', expected 'f32'{{$}}}}
  %0, %1, %2 = adamw %p, %g, %m, %v rate %r clip %c step %s unless %o (betas = [0.9, 0.95], weight_decay = 0.1, lr_scale = 1) : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<i64>, tensor<4xi32> -> tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}
