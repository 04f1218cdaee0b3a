// RUN: hocket-opt %s --verify-diagnostics --split-input-file

func.func @sizes(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op needs three sizes and three leading dimensions, has 2 and 3{{$}}}}
  %0 = step.gemm %a, %b mnk [4, 16] leading [8, 16, 16] : tensor<4x8xf32>, tensor<8x16xf32> -> (tensor<4x16xf32>)
  return
}

// -----

func.func @empty(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op has size 0, expected 1 to 2147483647{{$}}}}
  %0 = step.gemm %a, %b mnk [4, 0, 8] leading [8, 16, 16] : tensor<4x8xf32>, tensor<8x16xf32> -> (tensor<4x16xf32>)
  return
}

// -----

func.func @leading(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op leading dimension of a is 4, expected at least its 8 columns{{$}}}}
  %0 = step.gemm %a, %b mnk [4, 16, 8] leading [4, 16, 16] : tensor<4x8xf32>, tensor<8x16xf32> -> (tensor<4x16xf32>)
  return
}

// -----

func.func @beyond(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op b of 8 x 32 (leading dimension 32, batch 1 with stride 0) exceeds 'tensor<8x16xf32>'{{$}}}}
  %0 = step.gemm %a, %b mnk [4, 32, 8] leading [8, 32, 32] : tensor<4x8xf32>, tensor<8x16xf32> -> (tensor<4x32xf32>)
  return
}

// -----

func.func @batch(%a: tensor<2x4x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op b of 8 x 16 (leading dimension 16, batch 2 with stride 128) exceeds 'tensor<8x16xf32>'{{$}}}}
  %0 = step.gemm %a, %b mnk [4, 16, 8] leading [8, 16, 16] batch 2 strides [32, 128, 64] : tensor<2x4x8xf32>, tensor<8x16xf32> -> (tensor<2x4x16xf32>)
  return
}

// -----

func.func @add(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<16xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op adds 'tensor<16xf32>' to a result of type 'tensor<4x16xf32>'{{$}}}}
  %0 = step.gemm %a, %b add %c : tensor<16xf32> mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xf32>, tensor<8x16xf32> -> (tensor<4x16xf32>)
  return
}

// -----

func.func @element(%a: tensor<4x8xf64>, %b: tensor<8x16xf64>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op multiplies 'f64', expected f32, bf16 or f16{{$}}}}
  %0 = step.gemm %a, %b mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xf64>, tensor<8x16xf64> -> (tensor<4x16xf64>)
  return
}

// -----

func.func @elements(%a: tensor<4x8xbf16>, %b: tensor<8x16xf16>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op multiplies 'bf16' by 'f16', expected one type{{$}}}}
  %0 = step.gemm %a, %b mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xbf16>, tensor<8x16xf16> -> (tensor<4x16xf32>)
  return
}

// -----

func.func @result(%a: tensor<4x8xbf16>, %b: tensor<8x16xbf16>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op makes 'f16' of 'bf16', expected f32 or 'bf16'{{$}}}}
  %0 = step.gemm %a, %b mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xbf16>, tensor<8x16xbf16> -> (tensor<4x16xf16>)
  return
}

// -----

func.func @results(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op makes 2 values, expected 1{{$}}}}
  %0:2 = step.gemm %a, %b mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xf32>, tensor<8x16xf32> -> (tensor<4x16xf32>, tensor<4x16xf32>)
  return
}

// -----

func.func @one_result(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %v: tensor<16xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op makes 1 value, expected 2 with the epilogue bias_gelu{{$}}}}
  %0 = step.gemm %a, %b then bias_gelu(%v : tensor<16xf32>) mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xf32>, tensor<8x16xf32> -> (tensor<4x16xf32>)
  return
}

// -----

func.func @two_results(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %v: tensor<16xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op makes 2 values, expected 1{{$}}}}
  %0:2 = step.gemm %a, %b then bias(%v : tensor<16xf32>) mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xf32>, tensor<8x16xf32> -> (tensor<4x16xf32>, tensor<16xf32>)
  return
}

// -----

func.func @batched_epilogue(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %v: tensor<16xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op has a batch and the epilogue bias; an epilogue has no batch{{$}}}}
  %0 = step.gemm %a, %b then bias(%v : tensor<16xf32>) mnk [2, 16, 8] leading [8, 16, 16] batch 2 strides [16, 0, 32] : tensor<4x8xf32>, tensor<8x16xf32> -> (tensor<4x16xf32>)
  return
}

// -----

func.func @added(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<4x16xf32>, %v: tensor<16xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op has the epilogue bias after add, expected sum_a or sum_b{{$}}}}
  %0 = step.gemm %a, %b add %c : tensor<4x16xf32> then bias(%v : tensor<16xf32>) mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xf32>, tensor<8x16xf32> -> (tensor<4x16xf32>)
  return
}

// -----

func.func @without(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op has the epilogue gelu_grad without an operand of its own{{$}}}}
  %0 = step.gemm %a, %b then gelu_grad mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xf32>, tensor<8x16xf32> -> (tensor<4x16xf32>)
  return
}

// -----

func.func @with(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %v: tensor<16xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op has the epilogue sum_b with an operand of its own{{$}}}}
  %0:2 = step.gemm %a, %b then sum_b(%v : tensor<16xf32>) mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xf32>, tensor<8x16xf32> -> (tensor<4x16xf32>, tensor<16xf32>)
  return
}

// -----

func.func @bias_size(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %v: tensor<4xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op bias reads 'tensor<4xf32>', expected 16 elements of 'f32'{{$}}}}
  %0 = step.gemm %a, %b then bias(%v : tensor<4xf32>) mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xf32>, tensor<8x16xf32> -> (tensor<4x16xf32>)
  return
}

// -----

func.func @bias_type(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %v: tensor<16xbf16>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op bias reads 'tensor<16xbf16>', expected 16 elements of 'f32'{{$}}}}
  %0 = step.gemm %a, %b then bias(%v : tensor<16xbf16>) mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xf32>, tensor<8x16xf32> -> (tensor<4x16xf32>)
  return
}

// -----

func.func @before(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %v: tensor<16x4xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op gelu_grad reads 'tensor<16x4xf32>', expected the result's type 'tensor<4x16xf32>'{{$}}}}
  %0 = step.gemm %a, %b then gelu_grad(%v : tensor<16x4xf32>) mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xf32>, tensor<8x16xf32> -> (tensor<4x16xf32>)
  return
}

// -----

func.func @sum_size(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op sum_a makes 'tensor<16xf32>', expected 4 elements of 'f32'{{$}}}}
  %0:2 = step.gemm %a, %b then sum_a mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xf32>, tensor<8x16xf32> -> (tensor<4x16xf32>, tensor<16xf32>)
  return
}

// -----

func.func @eights(%a: tensor<4x8xf32>, %b: tensor<8x12xf32>, %v: tensor<4x12xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op leading dimension of the result is 12 with the epilogue gelu_grad, expected a multiple of 8{{$}}}}
  %0 = step.gemm %a, %b then gelu_grad(%v : tensor<4x12xf32>) mnk [4, 12, 8] leading [8, 12, 12] : tensor<4x8xf32>, tensor<8x12xf32> -> (tensor<4x12xf32>)
  return
}

// -----

func.func @eights_of_gelu(%a: tensor<4x8xf32>, %b: tensor<8x12xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op leading dimension of the result is 12 with the epilogue gelu, expected a multiple of 8{{$}}}}
  %0:2 = step.gemm %a, %b then gelu mnk [4, 12, 8] leading [8, 12, 12] : tensor<4x8xf32>, tensor<8x12xf32> -> (tensor<4x12xf32>, tensor<4x12xf32>)
  return
}

// -----

func.func @before_gelu(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op gelu makes 'tensor<16xf32>', expected the result's type 'tensor<4x16xf32>'{{$}}}}
  %0:2 = step.gemm %a, %b then gelu mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xf32>, tensor<8x16xf32> -> (tensor<4x16xf32>, tensor<16xf32>)
  return
}

// -----

func.func @no_epilogue(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %v: tensor<16xf32>) {
  // expected-error-re @+1 {{{{^}}'step.gemm' op has the operand of an epilogue and no epilogue{{$}}}}
  %0 = "step.gemm"(%a, %b, %v) <{mnk = array<i64: 4, 16, 8>, leading = array<i64: 8, 16, 16>, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>}> : (tensor<4x8xf32>, tensor<8x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  return
}
