// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// CHECK: dist.mesh @cluster<"pp"=2, "dp"=1, "tp"=4>
dist.mesh @cluster<"pp"=2, "dp"=1, "tp"=4>
// CHECK: dist.mesh @one<>
dist.mesh @one<>
