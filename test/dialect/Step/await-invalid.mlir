// RUN: hocket-opt %s --verify-diagnostics --split-input-file

func.func @none() {
  // expected-error-re @+1 {{{{^}}'step.await' op waits for 0 ops, expected at least 1{{$}}}}
  step.await "gradients" 0
  return
}

// -----

func.func @stream() {
  // expected-error-re @+1 {{{{^}}'step.await' op is on stream "", expected the name of a stream that does not compute{{$}}}}
  step.await "" 1
  return
}
