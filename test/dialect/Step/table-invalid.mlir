// RUN: hocket-opt %s --verify-diagnostics --split-input-file

func.func @f() attributes {t = #step.table<streams "compute", "next" {
// expected-error-re @+1 {{{{^}}unknown stream 'computer' (this table has: compute next){{$}}}}
  computer: begin
}>} { return }

// -----

func.func @f() attributes {t = #step.table<streams "compute", "next" {
// expected-error-re @+1 {{{{^}}unknown row 'beginn' (legal: send, receive, begin, forward, backward, weight_grad, recompute, update, evaluate, final_backward, final_weight_grad){{$}}}}
  compute: beginn
}>} { return }

// -----

func.func @f() attributes {t = #step.table<streams "compute", "next" messages activation from 0 to 1 {
// expected-error-re @+1 {{{{^}}sends gradient to 1, no message of this table (it has: activation from 0 to 1){{$}}}}
  next: send gradient to 1 microbatch 0 slot 0
}>} { return }

// -----

func.func @f() attributes {t = #step.table<streams "compute", "next" messages activation from 0 to 1 {
// expected-error-re @+1 {{{{^}}unknown kind of values 'losses' (legal: activation, gradient){{$}}}}
  next: send losses to 1 microbatch 0 slot 0
}>} { return }

// -----

func.func @f() attributes {t = #step.table<streams "compute", "next" {
// expected-error-re @+1 {{{{^}}chunk 70000 is too large (at most 7280){{$}}}}
  compute: forward chunk 70000 microbatch 0 slot 0
}>} { return }

// -----

// C1
// expected-error-re @+1 {{{{^}}stream 'compute' is there twice{{$}}}}
func.func @f() attributes {t = #step.table<streams "compute", "compute" {
  compute: begin
}>} { return }

// -----

// C1
// expected-error-re @+1 {{{{^}}too many streams (at most 8){{$}}}}
func.func @f() attributes {t = #step.table<streams "a", "b", "c", "d", "e", "f", "g", "h", "i" {
}>} { return }

// -----

// C2
// expected-error-re @+1 {{{{^}}a body on stream 'next'; bodies run on the first stream, 'compute', and messages on the others{{$}}}}
func.func @f() attributes {t = #step.table<streams "compute", "next" {
  next: begin
}>} { return }

// -----

// C2
// expected-error-re @+1 {{{{^}}a message on stream 'compute'; bodies run on the first stream, 'compute', and messages on the others{{$}}}}
func.func @f() attributes {t = #step.table<streams "compute", "next" messages activation from 0 to 1 {
  compute: send activation to 1 microbatch 0 slot 0
}>} { return }

// -----

// C3
// expected-error-re @+1 {{{{^}}a row waits for 2 rows of stream 'compute', which has 1{{$}}}}
func.func @f() attributes {t = #step.table<streams "compute", "next" {
  compute: begin after compute 2
}>} { return }

// -----

// C4
// expected-error-re @+1 {{{{^}}message 'activation from 0 to 1' is there twice{{$}}}}
func.func @f() attributes {t = #step.table<streams "compute", "next" messages activation from 0 to 1, activation from 0 to 1 {
  next: send activation to 1 microbatch 0 slot 0
}>} { return }

// -----

// C4
// expected-error-re @+1 {{{{^}}no row sends or receives the message 'activation from 0 to 1'{{$}}}}
func.func @f() attributes {t = #step.table<streams "compute", "next" messages activation from 0 to 1 {
  compute: begin
}>} { return }

// -----

// C4
// expected-error-re @+1 {{{{^}}the message 'activation from 2 to 3' is sent by stage 2, other rows are of stage 0{{$}}}}
func.func @f() attributes {t = #step.table<streams "compute", "next" messages activation from 0 to 1, activation from 2 to 3 {
  next: send activation to 1 microbatch 0 slot 0
  next: send activation to 3 microbatch 0 slot 0
}>} { return }
