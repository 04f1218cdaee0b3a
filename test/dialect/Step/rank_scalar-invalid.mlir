// RUN: hocket-opt %s --verify-diagnostics --split-input-file

func.func @axes() {
  // expected-error-re @+1 {{{{^}}'step.rank_scalar' op names no mesh axis{{$}}}}
  %0 = step.rank_scalar offset of 8 over {}
  return
}

// -----

func.func @size() {
  // expected-error-re @+1 {{{{^}}'step.rank_scalar' op is of a dimension of 0 elements, expected at least 1{{$}}}}
  %0 = step.rank_scalar offset of 0 over "tp"
  return
}
