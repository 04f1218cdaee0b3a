// RUN: hocket-opt %s --verify-diagnostics

// expected-error-re @+1 {{{{^}}'step.schedule' op expects parent op 'step.program'{{$}}}}
step.schedule "train" <streams "compute" {
}>
