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

// -----

func.func @number_over_axes() {
  // expected-error-re @+1 {{{{^}}'step.rank_scalar' op is a number over mesh axes; a number is the same on every rank, over {}{{$}}}}
  %0 = step.rank_scalar number of 8 over "tp"
  return
}

// -----

func.func @great_number() {
  // expected-error-re @+1 {{{{^}}'step.rank_scalar' op is the number 4294967296, expected 0 to 4294967295{{$}}}}
  %0 = step.rank_scalar number of 4294967296 over {}
  return
}
