// RUN: hocket-opt %s --verify-diagnostics --split-input-file

// expected-note-re @+1 {{{{^}}as @b says here{{$}}}}
nn.block @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error-re @+1 {{{{^}}'nn.return' op returns (), expected ('tensor<2xf32>'){{$}}}}
  return
}

// -----

nn.block @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error-re @+1 {{{{^}}'nn.return' op must be the last operation in the parent block{{$}}}}
  return %x : tensor<2xf32>
  return %x : tensor<2xf32>
}
