// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<?x3x4xbf16>, %w: tensor<5x8xf32>) {
  // expected-error-re @+4 {{{{^}}'nn.router_logits' op element type of w is 'f32', expected 'bf16' (that of x){{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.router_logits' op element type of y is 'bf16', expected 'f32'{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.router_logits' op dimension 0 of w is 5, expected 4 (dimension 2 of x){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.router_logits' op dimension 2 of y is 9, expected 8 (dimension 1 of w){{$}}}}
  %0 = router_logits %x, %w : tensor<?x3x4xbf16>, tensor<5x8xf32> -> tensor<?x3x9xbf16>
  return
}
