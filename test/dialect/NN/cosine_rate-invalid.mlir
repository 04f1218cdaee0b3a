// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%s: tensor<i32>) {
  // expected-error-re @+7 {{{{^}}'nn.cosine_rate' op element type of step is 'i32', expected 'i64'{{$}}}}
  // expected-error-re @+6 {{{{^}}'nn.cosine_rate' op element type of rate is 'f64', expected 'f32'{{$}}}}
  // expected-error-re @+5 {{{{^}}'nn.cosine_rate' op rate has 1 dimension, expected none{{$}}}}
  // expected-error-re @+4 {{{{^}}'nn.cosine_rate' op peak is 0.0, expected more than 0{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.cosine_rate' op floor is 1.0e-4, expected 0 to 0.0 (the peak){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.cosine_rate' op warmup is -1, expected at least 0{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.cosine_rate' op decay is -1, expected more than -1 (the warmup){{$}}}}
  %0 = cosine_rate %s cosine(peak = 0, warmup = -1, decay = -1, floor = 1e-4) : tensor<i32> -> tensor<1xf64>
  return
}

// -----

nn.block @b(%s: tensor<i64>) {
  // expected-error-re @+2 {{{{^}}'nn.cosine_rate' op floor is -1.0, expected 0 to 0.001 (the peak){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.cosine_rate' op decay is 20, expected more than 20 (the warmup){{$}}}}
  %0 = cosine_rate %s cosine(peak = 1e-3, warmup = 20, decay = 20, floor = -1) : tensor<i64> -> tensor<f32>
  return
}

// -----

nn.block @b(%s: tensor<i64>) {
  // expected-error-re @+1 {{{{^}}custom op 'nn.cosine_rate' unknown learning rate 'linear' (known: cosine, constant){{$}}}}
  %0 = cosine_rate %s linear(0.5) : tensor<i64> -> tensor<f32>
  return
}
