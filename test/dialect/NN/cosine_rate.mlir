// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%s: tensor<i64>) {
  // CHECK-NEXT: %cosine_rate = cosine_rate %s cosine(peak = 0.001, warmup = 20, decay = 1000, floor = 1.0e-4) : tensor<i64> -> tensor<f32>{{$}}
  %0 = cosine_rate %s cosine(peak = 1e-3, warmup = 20, decay = 1000, floor = 1e-4) : tensor<i64> -> tensor<f32>
  // CHECK-NEXT: %cosine_rate_0 = cosine_rate %s constant(0.5) : tensor<i64> -> tensor<f32>{{$}}
  %1 = cosine_rate %s constant(0.5) : tensor<i64> -> tensor<f32>
  return
}
