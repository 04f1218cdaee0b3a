// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @plain(
nn.block @plain(%a: tensor<?x4x3x5xf32>, %b: tensor<?x4x3x5xf32>, %m: tensor<?x4x3xf32>, %n: tensor<?x4x3xf32>) {
  // CHECK-NEXT: %attention_merge_0, %attention_merge_1 = attention_merge %a, %m, %b, %n : tensor<?x4x3x5xf32>, tensor<?x4x3xf32>, tensor<?x4x3x5xf32>, tensor<?x4x3xf32> -> tensor<?x4x3x5xf32>, tensor<?x4x3xf32>{{$}}
  %0, %1 = attention_merge %a, %m, %b, %n : tensor<?x4x3x5xf32>, tensor<?x4x3xf32>, tensor<?x4x3x5xf32>, tensor<?x4x3xf32> -> tensor<?x4x3x5xf32>, tensor<?x4x3xf32>
  return
}

// Grouped heads; rounded at the end only.
// CHECK-LABEL: nn.block @grouped(
nn.block @grouped(%a: tensor<?x4x3x2x5xf32>, %m: tensor<?x4x3x2xf32>) {
  // CHECK-NEXT: attention_merge %a, %m, %a, %m : tensor<?x4x3x2x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4x3x2x5xf32>, tensor<?x4x3x2xf32> -> tensor<?x4x3x2x5xbf16>, tensor<?x4x3x2xf32>{{$}}
  %0, %1 = attention_merge %a, %m, %a, %m : tensor<?x4x3x2x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4x3x2x5xf32>, tensor<?x4x3x2xf32> -> tensor<?x4x3x2x5xbf16>, tensor<?x4x3x2xf32>
  return
}
