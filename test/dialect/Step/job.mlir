// RUN: hocket-opt %s --verify-roundtrip | FileCheck %s

// CHECK: step.job @j of @g with @r under @p rows 2 microbatches 16 sequence 128 vocabulary 256 parameters 4837376 stages 2 layers ["h.0", "h.1"]
step.job @j of @g with @r under @p rows 2 microbatches 16 sequence 128 vocabulary 256 parameters 4837376 stages 2 layers ["h.0", "h.1"]
