// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// Plain and grouped; with the log-sum-exp kept; within documents.

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%q: tensor<?x4x3x5xf32>, %k: tensor<?x4x3x5xf32>, %v: tensor<?x4x3x2xf32>, %a: tensor<?x4xi32>, %b: tensor<?x4xi32>) {
  // CHECK-NEXT: %attention = attention %q, %k, %v at %a, %b causal scale(0.5) : tensor<?x4x3x5xf32>, tensor<?x4x3x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4xi32>, tensor<?x4xi32> -> tensor<?x4x3x2xf32>{{$}}
  %0 = attention %q, %k, %v at %a, %b causal scale(0.5) : tensor<?x4x3x5xf32>, tensor<?x4x3x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4xi32>, tensor<?x4xi32> -> tensor<?x4x3x2xf32>
  return
}

// CHECK-LABEL: nn.block @b1(
nn.block @b1(%q: tensor<?x4x3x5xf32>, %k: tensor<?x4x3x5xf32>, %v: tensor<?x4x3x2xf32>, %a: tensor<?x4xi32>, %b: tensor<?x4xi32>) {
  // CHECK-NEXT: %attention = attention %q, %k, %v at %a, %b full scale(0.125) softcap(30.0) : tensor<?x4x3x5xf32>, tensor<?x4x3x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4xi32>, tensor<?x4xi32> -> tensor<?x4x3x2xf32>{{$}}
  %0 = attention %q, %k, %v at %a, %b full softcap(30) scale(0.125) : tensor<?x4x3x5xf32>, tensor<?x4x3x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4xi32>, tensor<?x4xi32> -> tensor<?x4x3x2xf32>
  return
}

// CHECK-LABEL: nn.block @b2(
nn.block @b2(%q: tensor<?x4x3x2x5xf32>, %k: tensor<?x4x3x5xf32>, %v: tensor<?x4x3x2xf32>, %a: tensor<?x4xi32>, %b: tensor<?x4xi32>) {
  // CHECK-NEXT: %attention, %attention_lse = attention %q, %k, %v at %a, %b causal scale(1.0) window(2) : tensor<?x4x3x2x5xf32>, tensor<?x4x3x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4xi32>, tensor<?x4xi32> -> tensor<?x4x3x2x2xf32>, tensor<?x4x3x2xf32>{{$}}
  %0, %1 = attention %q, %k, %v at %a, %b causal scale(1) window(2) : tensor<?x4x3x2x5xf32>, tensor<?x4x3x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4xi32>, tensor<?x4xi32> -> tensor<?x4x3x2x2xf32>, tensor<?x4x3x2xf32>
  return
}

// CHECK-LABEL: nn.block @b3(
nn.block @b3(%q: tensor<?x4x3x5xf32>, %k: tensor<?x6x3x5xf32>, %v: tensor<?x6x3x2xf32>, %a: tensor<?x4xi32>, %b: tensor<?x6xi32>, %c: tensor<?x4xi32>, %d: tensor<?x6xi32>) {
  // CHECK-NEXT: %attention = attention %q, %k, %v at %a, %b documents %c, %d causal scale(0.5) : tensor<?x4x3x5xf32>, tensor<?x6x3x5xf32>, tensor<?x6x3x2xf32>, tensor<?x4xi32>, tensor<?x6xi32>, tensor<?x4xi32>, tensor<?x6xi32> -> tensor<?x4x3x2xf32>{{$}}
  %0 = attention %q, %k, %v at %a, %b documents %c, %d causal scale(0.5) : tensor<?x4x3x5xf32>, tensor<?x6x3x5xf32>, tensor<?x6x3x2xf32>, tensor<?x4xi32>, tensor<?x6xi32>, tensor<?x4xi32>, tensor<?x6xi32> -> tensor<?x4x3x2xf32>
  return
}

// In a ring: keys are split as queries are.
// CHECK-LABEL: nn.block @ring(
nn.block @ring(%q: tensor<?x4x3x5xf32>, %v: tensor<?x4x3x2xf32>, %a: tensor<?x4xi32>) {
  // CHECK-NEXT: attention %q, %q, %v at %a, %a causal scale(0.5) window(2) ring : tensor<?x4x3x5xf32>, {{.*}} -> tensor<?x4x3x2xf32>{{$}}
  %0 = attention %q, %q, %v at %a, %a causal scale(0.5) window(2) ring : tensor<?x4x3x5xf32>, tensor<?x4x3x5xf32>, tensor<?x4x3x2xf32>, tensor<?x4xi32>, tensor<?x4xi32> -> tensor<?x4x3x2xf32>
  return
}
