// RUN: hocket-opt %s --verify-roundtrip | FileCheck %s

// With chunks, and without messages.
// CHECK: table = #step.table<streams "compute" {
// CHECK-NEXT: compute: begin
// CHECK-NEXT: compute: forward chunk 1 microbatch 3 slot 2
// CHECK-NEXT: compute: weight_grad chunk 1 microbatch 3 slot 2 after compute 2
// CHECK-NEXT: compute: evaluate
// CHECK-NEXT: }>}
func.func @holder() attributes {table = #step.table<streams "compute" {
  compute: begin
  compute: forward chunk 1 microbatch 3 slot 2
  compute: weight_grad chunk 1 microbatch 3 slot 2 after compute 2
  compute: evaluate
}>} {
  return
}
// CHECK: messages activation from 1 chunk 1 to 0 chunk 2, activation from 0 to 1 {
// CHECK-NEXT: next: send activation chunk 1 to 0 microbatch 0 slot 0
// CHECK-NEXT: before: receive activation from 0 microbatch 1 slot 4
func.func @chunks() attributes {table = #step.table<streams "compute", "next", "before"
  messages activation from 1 chunk 1 to 0 chunk 2, activation from 0 to 1 {
  next: send activation chunk 1 to 0 microbatch 0 slot 0
  before: receive activation from 0 microbatch 1 slot 4
}>} {
  return
}
