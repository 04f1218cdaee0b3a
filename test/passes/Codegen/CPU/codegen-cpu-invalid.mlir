// RUN: split-file %s %t
// RUN: hocket-opt %t/march.mlir --codegen-cpu=march=x86-65 --verify-diagnostics
// RUN: hocket-opt %t/march32.mlir --codegen-cpu=march=i386 --verify-diagnostics
// RUN: hocket-opt %t/apart.mlir --codegen-cpu --verify-diagnostics

//--- march.mlir
// expected-error-re @below {{{{^}}unknown CPU 'x86-65' (nearest: x86-64){{$}}}}
module {
}

//--- march32.mlir
// expected-error-re @below {{{{^}}CPU 'i386' has no 64-bit mode, which programs for {{.+}} need{{$}}}}
module {
}

//--- apart.mlir
// expected-error-re @below {{{{^}}'func.func' op has ops that cannot be one kernel{{$}}}}
func.func private @k(%x: tensor<4x8xf32>, %y: tensor<5x8xf32>) -> (tensor<4xf32>, tensor<5xf32>) {
  %0 = nn.row_max %x : tensor<4x8xf32> -> tensor<4xf32>
  %1 = nn.row_max %y : tensor<5x8xf32> -> tensor<5xf32>
  return %0, %1 : tensor<4xf32>, tensor<5xf32>
}
