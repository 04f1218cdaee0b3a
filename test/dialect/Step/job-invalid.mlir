// RUN: hocket-opt %s --verify-diagnostics

// expected-error-re @+2 {{{{^}}'step.job' op rows is -1, expected at least 0{{$}}}}
// expected-error-re @+1 {{{{^}}'step.job' op stages is 0, expected at least 1{{$}}}}
step.job @j of @g with @r under @p rows -1 microbatches 16 sequence 128 vocabulary 256 parameters 48 stages 0 layers []
