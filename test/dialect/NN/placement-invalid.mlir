// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error-re @+1 {{{{^}}custom op 'nn.gelu' unknown phase 'sideways' (known: forward, backward, weight_grad, recompute){{$}}}}
  %0 = gelu %x : tensor<4xf32> -> tensor<4xf32> in "h.3" sideways
}

// -----

nn.block @b(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error-re @+1 {{{{^}}custom op 'nn.gelu' expected a layer path in quotes after 'in'{{$}}}}
  %0 = gelu %x : tensor<4xf32> -> tensor<4xf32> in h.3
}

// -----

nn.block @b(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error-re @+1 {{{{^}}'nn.gelu' op has 2 shardings for 1 values{{$}}}}
  %0 = gelu %x : tensor<4xf32> -> tensor<4xf32> on [none, none]
  return %0 : tensor<4xf32>
}

// -----

nn.block @b(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error-re @+1 {{{{^}}'nn.gelu' op is placed by 3 : i32, which is no sharding{{$}}}}
  %0 = gelu %x : tensor<4xf32> -> tensor<4xf32> on [3 : i32]
  return %0 : tensor<4xf32>
}

// -----

dist.mesh @one<"dp"=2>
nn.block @b(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error-re @+1 {{{{^}}'nn.gelu' op has a sharding of 1 dimensions for a value of 2{{$}}}}
  %0 = gelu %x : tensor<4x4xf32> on [#dist.sharding<@one, [{}]>]
  return %0 : tensor<4x4xf32>
}
