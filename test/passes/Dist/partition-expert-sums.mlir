// Experts that are split (etp 2): what they give is partial and is joined behind combine, of b s h = 8x4x8 elements
// instead of e b c h = 4x8x2x8, and what meets at the weights, b s k, where it is made. Backward likewise.
// RUN: cat %S/Inputs/moe.mlir %s > %t.mlir
// RUN: hocket-opt %t.mlir --nn-pipeline="plan=etp rows=8" --dist-apply-plan --dist-propagate-shardings --dist-partition --dist-verify-partition -o %t
// RUN: hocket-opt --verify-roundtrip %t | sed -n -f %S/Inputs/collectives.sed | FileCheck %s

// With room for half of the choices experts give as much as tokens take. Forward that and the weights' gradients were
// more; backward, where weights are none, what is behind combine is no more.
// RUN: sed -e 's/tensor<4x?x2x/tensor<4x?x1x/g; s/tensor<?x4x2xi32>, tensor<?xf32>/tensor<?x4x1xi32>, tensor<?xf32>/' \
// RUN:   -e 's/tensor<?x4x2xi32> -> tensor<4x/tensor<?x4x1xi32> -> tensor<4x/; s/tensor<?x4x2xi32>, tensor<?x4x2xf32> ->/tensor<?x4x1xi32>, tensor<?x4x2xf32> ->/' \
// RUN:   -e 's/capacity 1.0/capacity 0.5/' %t.mlir | hocket-opt --nn-pipeline="plan=etp rows=8" --dist-apply-plan --dist-propagate-shardings --dist-partition --dist-verify-partition -o %t.few
// RUN: sed -n -f %S/Inputs/collectives.sed %t.few | FileCheck %s --check-prefix=FEW
dist.mesh @m<"tp"=2>
dist.plan @etp for @moe on @m {
  batch microbatch 8 sequences
  split "h.*.experts.up.weight" dim 2 over "tp"
  split "h.*.experts.down.weight" dim 1 over "tp"
}
// CHECK: all_reduce "tp" tensor<8x4x8xf32> forward : split h.*.experts.up.weight dim 2 over tp: combine of h.0 is partial
// CHECK-NEXT: all_reduce "tp" tensor<8x4x2xf32> backward : split h.*.experts.up.weight dim 2 over tp: combine_grad of h.0 is partial
// CHECK-NEXT: all_reduce "tp" tensor<8x4x8xf32> backward : split h.*.experts.up.weight dim 2 over tp: combine of h.0 is partial
// CHECK-NOT: {{.}}

// FEW: all_reduce "tp" tensor<4x8x1x8xf32> forward : {{.*}}: matmul of h.0.experts.down sums over f=6
// FEW-NEXT: all_reduce "tp" tensor<8x4x8xf32> backward : {{.*}}: combine of h.0 is partial
// FEW-NOT: {{.}}
