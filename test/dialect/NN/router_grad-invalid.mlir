// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%d: tensor<2x6x3xf32>, %l: tensor<2x6x4xf64>, %g: tensor<3xf64>) {
  // expected-error-re @+5 {{{{^}}'nn.router_grad' op element type of logits is 'f64', expected 'f32'{{$}}}}
  // expected-error-re @+4 {{{{^}}'nn.router_grad' op element type of dload is 'f64', expected 'f32'{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.router_grad' op dimension 0 of dload is 3, expected 2 (dimension 0 of dweights){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.router_grad' op dimension 2 of dlogits is 5, expected 4 (dimension 2 of logits){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.router_grad' op dimension 2 of dweights is 3, expected 2 (top){{$}}}}
  %0 = router_grad %d, %l load %g top 2 : tensor<2x6x3xf32>, tensor<2x6x4xf64>, tensor<3xf64> -> tensor<2x6x5xf32>
  return
}
