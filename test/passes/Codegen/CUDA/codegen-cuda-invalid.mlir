// RUN: split-file %s %t
// RUN: hocket-opt %t/apart.mlir --codegen-cuda --verify-diagnostics
// RUN: hocket-opt %t/architecture.mlir --codegen-cuda=ptx=sm_1 --verify-diagnostics
// RUN: hocket-opt %t/parts.mlir --codegen-cuda --verify-diagnostics
// REQUIRES: libdevice

//--- apart.mlir
// expected-error-re @below {{{{^}}'func.func' op has ops that cannot be one kernel{{$}}}}
func.func private @k(%x: tensor<4x8xf32>, %y: tensor<5x8xf32>) -> (tensor<4xf32>, tensor<5xf32>) {
  %0 = nn.row_max %x : tensor<4x8xf32> -> tensor<4xf32>
  %1 = nn.row_max %y : tensor<5x8xf32> -> tensor<5xf32>
  return %0, %1 : tensor<4xf32>, tensor<5xf32>
}

//--- architecture.mlir
// expected-error-re @below {{{{^}}unknown architecture 'sm_1', expected one like sm_80, sm_90 or sm_100{{$}}}}
func.func private @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = nn.gelu %x : tensor<8xf32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}

//--- parts.mlir
// expected-error-re @below {{{{^}}'func.func' op has 2 ops and hocket.parts = array<i64: 1>, expected array<i64> of as many ops in parts of at least 1{{$}}}}
func.func private @few(%x: tensor<8xf32>, %y: tensor<9xf32>) -> (tensor<8xf32>, tensor<9xf32>) attributes {hocket.parts = array<i64: 1>} {
  %0 = nn.gelu %x : tensor<8xf32> -> tensor<8xf32>
  %1 = nn.gelu %y : tensor<9xf32> -> tensor<9xf32>
  return %0, %1 : tensor<8xf32>, tensor<9xf32>
}
// expected-error-re @below {{{{^}}'func.func' op has 1 ops and hocket.parts = 1 : i64, expected array<i64> of as many ops in parts of at least 1{{$}}}}
func.func private @other(%x: tensor<8xf32>) -> tensor<8xf32> attributes {hocket.parts = 1 : i64} {
  %0 = nn.gelu %x : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
