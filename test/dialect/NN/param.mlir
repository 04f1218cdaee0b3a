// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// Every initialiser, and numbers as people write them.

// CHECK-LABEL: nn.block @b
nn.block @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %a.z = param "a.z" : tensor<2xf32> init zeros
  %0 = param "a.z" : tensor<2xf32> init zeros
  // CHECK-NEXT: %a.o-1 = param "a.o-1" : tensor<2x3xbf16> init ones
  %1 = param "a.o-1" : tensor<2x3xbf16> init ones
  // CHECK-NEXT: %n = param "n" : tensor<2xf32> init normal(6.0e-5)
  %2 = param "n" : tensor<2xf32> init normal(6e-5)
  // CHECK-NEXT: %m = param "m" : tensor<f32> init normal(1000.0)
  %3 = param "m" : tensor<f32> init normal(1e3)
  // CHECK-NEXT: %c = param "c" : tensor<2xf32> init constant(-2.0)
  %4 = param "c" : tensor<2xf32> init constant(-2)
  // CHECK-NEXT: %d = param "d" : tensor<2xf32> init constant(0.5)
  %5 = "nn.param"() {name = "d", init = #nn.init<constant(0.5)>} : () -> tensor<2xf32>
  return %x : tensor<2xf32>
}
