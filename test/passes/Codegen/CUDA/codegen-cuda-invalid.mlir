// RUN: split-file %s %t
// RUN: hocket-opt %t/apart.mlir --codegen-cuda --verify-diagnostics
// RUN: hocket-opt %t/architecture.mlir --codegen-cuda=ptx=sm_1 --verify-diagnostics
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
