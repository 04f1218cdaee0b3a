// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%q: tensor<?x4x3x5xf32>, %k: tensor<?x6x2x5xf32>, %v: tensor<?x6x3x2xf32>, %a: tensor<?x4xi32>, %b: tensor<?x4xi32>) {
  // expected-error-re @+3 {{{{^}}'nn.attention' op dimension 2 of k is 2, expected 3 (dimension 2 of q){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.attention' op dimension 1 of k_positions is 4, expected 6 (dimension 1 of k){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.attention' op dimension 3 of y is 5, expected 2 (dimension 3 of v){{$}}}}
  %0 = attention %q, %k, %v at %a, %b causal scale(0.5) : tensor<?x4x3x5xf32>, tensor<?x6x2x5xf32>, tensor<?x6x3x2xf32>, tensor<?x4xi32>, tensor<?x4xi32> -> tensor<?x4x3x5xf32>
  return
}

// -----

nn.block @b(%q: tensor<?x4x15xf32>, %k: tensor<?x4x3x5xf32>, %v: tensor<?x4x3x2xf32>, %a: tensor<?x4xi32>, %b: tensor<?x4xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.attention' op q has 3 dimensions, expected 4 to 5{{$}}}}
  %0 = attention %q, %k, %v at %a, %b causal scale(0.5) : tensor<?x4x15xf32>, tensor<?x4x3x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4xi32>, tensor<?x4xi32> -> tensor<?x4x3x2xf32>
  return
}

// -----

nn.block @b(%q: tensor<?x4x3x2x5xf32>, %k: tensor<?x4x3x5xf32>, %v: tensor<?x4x3x2xf32>, %a: tensor<?x4xi32>, %b: tensor<?x4xi32>) {
  // expected-error-re @+3 {{{{^}}'nn.attention' op window is 0, expected at least 1{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.attention' op softcap is -1.0, expected more than 0{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.attention' op y has 4 dimensions, expected 5 (b s kv g e){{$}}}}
  %0 = attention %q, %k, %v at %a, %b causal scale(0.5) window(0) softcap(-1) : tensor<?x4x3x2x5xf32>, tensor<?x4x3x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4xi32>, tensor<?x4xi32> -> tensor<?x4x3x2xf32>
  return
}

// -----

nn.block @b(%q: tensor<?x4x3x5xbf16>, %k: tensor<?x4x3x5xf32>, %v: tensor<?x4x3x2xf32>, %a: tensor<?x4xi64>, %b: tensor<?x4xi32>) {
  // expected-error-re @+3 {{{{^}}'nn.attention' op element type of k is 'f32', expected 'bf16' (that of q){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.attention' op element type of v is 'f32', expected 'bf16' (that of q){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.attention' op element type of q_positions is 'i64', expected 'i32'{{$}}}}
  %0 = attention %q, %k, %v at %a, %b causal scale(0.5) : tensor<?x4x3x5xbf16>, tensor<?x4x3x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4xi64>, tensor<?x4xi32> -> tensor<?x4x3x2xf32>
  return
}

// -----

nn.block @b(%q: tensor<?x4x3x5xi8>, %k: tensor<?x4x3x5xf32>, %v: tensor<?x4x3x2xf32>, %a: tensor<?x4xi32>, %b: tensor<?x4xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.attention' op element type of q is 'i8', expected a float type{{$}}}}
  %0 = attention %q, %k, %v at %a, %b causal scale(0.5) : tensor<?x4x3x5xi8>, tensor<?x4x3x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4xi32>, tensor<?x4xi32> -> tensor<?x4x3x2xf32>
  return
}

// -----

nn.block @b(%q: tensor<?x4x3x5xf32>, %k: tensor<?x4x3x5xf32>, %v: tensor<?x4x3x2xf32>, %a: tensor<?x4xi32>, %b: tensor<?x5xf32>) {
  // expected-error-re @+4 {{{{^}}'nn.attention' op element type of lse is 'f64', expected 'f32'{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.attention' op element type of k_positions is 'f32', expected 'i32'{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.attention' op dimension 1 of k_positions is 5, expected 4 (dimension 1 of k){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.attention' op dimension 2 of lse is 1, expected 3 (dimension 2 of q){{$}}}}
  %0, %1 = attention %q, %k, %v at %a, %b causal scale(0.5) : tensor<?x4x3x5xf32>, tensor<?x4x3x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4xi32>, tensor<?x5xf32> -> tensor<?x4x3x2xf32>, tensor<?x4x1xf64>
  return
}

// -----

nn.block @b(%q: tensor<?x4x3x5xf32>, %k: tensor<?x4x3x5xf32>, %v: tensor<?x4x3x2xf32>, %a: tensor<?x4xi32>, %b: tensor<?x4xi32>) {
  // expected-error-re @+1 {{{{^}}custom op 'nn.attention' attention needs 'scale'{{$}}}}
  %0 = attention %q, %k, %v at %a, %b causal : tensor<?x4x3x5xf32>, tensor<?x4x3x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4xi32>, tensor<?x4xi32> -> tensor<?x4x3x2xf32>
  return
}

// -----

nn.block @b(%q: tensor<?x4x3x5xf32>, %k: tensor<?x4x3x5xf32>, %v: tensor<?x4x3x2xf32>, %a: tensor<?x4xi32>, %b: tensor<?x4xi32>) {
  // expected-error-re @+1 {{{{^}}custom op 'nn.attention' unknown attention mask 'triangular' (known: causal, full){{$}}}}
  %0 = attention %q, %k, %v at %a, %b triangular scale(0.5) : tensor<?x4x3x5xf32>, tensor<?x4x3x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4xi32>, tensor<?x4xi32> -> tensor<?x4x3x2xf32>
  return
}

// -----

nn.block @b(%q: tensor<?x4x3x5xf32>, %k: tensor<?x4x3x5xf32>, %v: tensor<?x4x3x2xf32>, %a: tensor<?x4xi32>, %b: tensor<?x4xi32>) {
  // expected-error-re @+1 {{{{^}}custom op 'nn.attention' attention has no argument 'cap' (known: scale, window, softcap, ring){{$}}}}
  %0 = attention %q, %k, %v at %a, %b causal scale(0.5) cap(2.0) : tensor<?x4x3x5xf32>, tensor<?x4x3x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4xi32>, tensor<?x4xi32> -> tensor<?x4x3x2xf32>
  return
}

// -----

nn.block @b(%q: tensor<?x4x3x5xf32>, %k: tensor<?x4x3x5xf32>, %v: tensor<?x4x3x2xf32>, %a: tensor<?x4xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.attention' op has 1 tensors of documents, expected 2: those of the queries and of the keys{{$}}}}
  %0 = attention %q, %k, %v at %a, %a documents %a causal scale(0.5) : tensor<?x4x3x5xf32>, tensor<?x4x3x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4xi32>, tensor<?x4xi32>, tensor<?x4xi32> -> tensor<?x4x3x2xf32>
  return
}

// -----

nn.block @b(%q: tensor<?x4x3x5xf32>, %k: tensor<?x4x3x5xf32>, %v: tensor<?x4x3x2xf32>, %a: tensor<?x4xi32>, %b: tensor<?x5xi64>) {
  // expected-error-re @+2 {{{{^}}'nn.attention' op element type of documents is 'i64', expected 'i32'{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.attention' op dimension 1 of k_documents is 5, expected 4 (dimension 1 of k){{$}}}}
  %0 = attention %q, %k, %v at %a, %a documents %a, %b causal scale(0.5) : tensor<?x4x3x5xf32>, tensor<?x4x3x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4xi32>, tensor<?x4xi32>, tensor<?x4xi32>, tensor<?x5xi64> -> tensor<?x4x3x2xf32>
  return
}
