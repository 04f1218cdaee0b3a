// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x0: tensor<3xf32>) {
  %o = arith.constant 1.0 : f32
  // expected-note-re @+1 {{{{^}}required by region isolation constraints{{$}}}}
  %0 = elementwise %x0 : tensor<3xf32> -> tensor<3xf32> {
  ^bb0(%a: f32):
  // expected-error-re @+1 {{{{^}}'arith.addf' op using value defined outside the region{{$}}}}
    %1 = arith.addf %a, %o : f32
    return %1 : f32
  }
  return
}

// -----

nn.block @b(%x0: tensor<?x3x4xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.elementwise' op body has 'math.atan', expected only scalars by arith.addf, arith.cmpf, arith.constant, arith.divf, arith.extf, arith.maximumf, arith.minimumf, arith.mulf, arith.negf, arith.select, arith.sitofp, arith.subf, arith.truncf, math.absf, math.cos, math.erf, math.exp, math.log, math.powf, math.rsqrt, math.sin, math.sqrt, math.tanh{{$}}}}
  %0 = elementwise "f" %x0 : tensor<?x3x4xf32> -> tensor<?x3x4xf32> {
  ^bb0(%a: f32):
    %0 = math.atan %a : f32
    return %0 : f32
  }
  return
}

// -----

nn.block @b(%x0: tensor<?x3x4xf32>) {
  // expected-error-re @+3 {{{{^}}'nn.elementwise' op number of the body's arguments is 2, expected 1 (one an operand){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.elementwise' op argument 0 of the body is 'f64', expected 'f32' (the element type of operand 0){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.elementwise' op body returns 'f64' as value 0, expected 'f32' (the element type of result 0){{$}}}}
  %0 = elementwise "f" %x0 : tensor<?x3x4xf32> -> tensor<?x3x4xf32> {
  ^bb0(%a: f64, %b: f32):
    return %a : f64
  }
  return
}

// -----

nn.block @b(%x0: tensor<?x3x4xf32>, %x1: tensor<4xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.elementwise' op number of values that the body returns is 1, expected 2 (one a result){{$}}}}
  %0, %1 = elementwise "f" %x0, %x1 : tensor<?x3x4xf32>, tensor<4xf32> -> tensor<?x3x4xf32>, tensor<?x3x4xf32> {
  ^bb0(%a: f32, %b: f32):
    return %a : f32
  }
  return
}

// -----

nn.block @b(%x0: tensor<?x3x4xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.elementwise' op body does not end with 'return'{{$}}}}
  %0 = elementwise "f" %x0 : tensor<?x3x4xf32> -> tensor<?x3x4xf32> {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
  }
  return
}

// -----

nn.block @b(%x0: tensor<2x3xf32>, %x1: tensor<1x2x3xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.elementwise' op operand 1 has 3 dimensions, expected at most 2 (the rank of result 0){{$}}}}
  %0 = elementwise "f" %x0, %x1 : tensor<2x3xf32>, tensor<1x2x3xf32> -> tensor<2x3xf32> {
  ^bb0(%a: f32, %b: f32):
    return %a : f32
  }
  return
}

// -----

nn.block @b(%x0: tensor<2x3xf32>, %x1: tensor<2xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.elementwise' op dimension 0 of operand 1 is 2, expected 3 (dimension 1 of operand 0){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.elementwise' op dimension 1 of result 1 is 4, expected 3 (dimension 1 of operand 0){{$}}}}
  %0, %1 = elementwise "f" %x0, %x1 : tensor<2x3xf32>, tensor<2xf32> -> tensor<2x3xf32>, tensor<2x4xf32> {
  ^bb0(%a: f32, %b: f32):
    return %a, %b : f32, f32
  }
  return
}

// -----

nn.block @b(%x0: tensor<2x3xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.elementwise' op result 1 has 1 dimension, expected 2 (the rank of result 0){{$}}}}
  %0, %1 = elementwise "f" %x0 : tensor<2x3xf32> -> tensor<2x3xf32>, tensor<3xf32> {
  ^bb0(%a: f32):
    return %a, %a : f32, f32
  }
  return
}

// -----

nn.block @b(%x0: tensor<3xbf16>) {
  // expected-error-re @+2 {{{{^}}'nn.elementwise' op argument 0 of the body is 'bf16', expected 'f32' (the element type of operand 0, bf16, in which no body computes){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.elementwise' op body returns 'bf16' as value 0, expected 'f32' (the element type of result 0, bf16, in which no body computes){{$}}}}
  %0 = elementwise %x0 : tensor<3xbf16> -> tensor<3xbf16> {
  ^bb0(%a: bf16):
    return %a : bf16
  }
  return
}
