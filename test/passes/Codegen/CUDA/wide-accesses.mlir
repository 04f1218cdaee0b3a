// RUN: hocket-opt %s --codegen-cuda=ptx=sm_80 | sed -e 's/\\0A/\n/g' -e 's/\\09/ /g' | FileCheck %s
// REQUIRES: libdevice
// PTX: 16 bytes at a time where rows begin at multiples of that, single numbers where they do not.

// CHECK-LABEL: .entry even(
// CHECK: ld.global.nc.v4
// CHECK-NOT: ld.global{{.*}}b16
// CHECK: st.global.v4
// CHECK-LABEL: .entry odd(
// CHECK: ld.global.nc.b16
// CHECK: st.global.b16
func.func private @even(%x: tensor<64x768xbf16>, %b: tensor<768xbf16>) -> tensor<64x768xbf16> {
  %0 = nn.add %x, %b : tensor<64x768xbf16>, tensor<768xbf16> -> tensor<64x768xbf16>
  %y = nn.mul %0, %0 : tensor<64x768xbf16>, tensor<64x768xbf16> -> tensor<64x768xbf16>
  return %y : tensor<64x768xbf16>
}
func.func private @odd(%x: tensor<64x769xbf16>, %b: tensor<769xbf16>) -> tensor<64x769xbf16> {
  %0 = nn.add %x, %b : tensor<64x769xbf16>, tensor<769xbf16> -> tensor<64x769xbf16>
  return %0 : tensor<64x769xbf16>
}
