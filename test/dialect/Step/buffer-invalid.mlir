// RUN: hocket-opt %s --verify-diagnostics --split-input-file

// C1
// expected-error-re @+1 {{{{^}}'step.buffer' op has type 'memref<?xf32>', expected a dense row-major memref of static shape{{$}}}}
%0 = step.buffer parameter "w" in arena : memref<?xf32>

// -----

// C1
// expected-error-re @+1 {{{{^}}'step.buffer' op has type 'memref<4xf32, strided<[2]>>', expected a dense row-major memref of static shape{{$}}}}
%0 = step.buffer parameter "w" in arena : memref<4xf32, strided<[2]>>

// -----

// C2
// expected-error-re @+1 {{{{^}}'step.buffer' op offset is -64, expected at least 0{{$}}}}
%0 = step.buffer parameter "w" in arena offset -64 : memref<4xf32>

// -----

// C3
// expected-error-re @+1 {{{{^}}'step.buffer' op has 1 dimensions and is a shard of 'tensor<4x8xf32>'{{$}}}}
%0 = step.buffer parameter "w" in arena : memref<4xf32> on #dist.shard<tensor<4x8xf32>, #dist.sharding<@m, [{}, {}]>>
