// RUN: hocket-opt %s --verify-diagnostics --split-input-file
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.stages' op needs an axis to lay the stages along{{$}}}}
  stages over {} schedule gpipe
}
// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.stages' op lays stages along {"all":(1)2}; expected one whole axis of the mesh{{$}}}}
  stages over {"all":(1)2} schedule gpipe
}
// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.stages' op lays stages along {"pp", "dp"}; expected one whole axis of the mesh{{$}}}}
  stages over {"pp", "dp"} schedule gpipe
}
// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}custom op 'dist.stages' expected a schedule's name; 1f1b and others that begin with a digit or hold a dash stand in quotes{{$}}}}
  stages over "pp" schedule 1f1b
}

// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.stages' op has 0 chunks; at least 1 is needed{{$}}}}
  stages over "pp" schedule "interleaved-1f1b" chunks 0
}

// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}custom op 'dist.stages' expected the layers of each stage, as in cuts [8, 8, 7, 7]{{$}}}}
  stages over "pp" cuts [8, eight] schedule gpipe
}

// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}custom op 'dist.stages' expected the path of a table in quotes, as in schedule file("table.txt"){{$}}}}
  stages over "pp" schedule file(table)
}

// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+2 {{{{^}}'dist.stages' op names no table; schedule file("table.txt") does{{$}}}}
  // expected-error-re @+1 {{{{^}}'dist.stages' op is balanced and has cuts; one of both says where stages end{{$}}}}
  stages over "pp" balanced cuts [8, 8] schedule file
}

// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+2 {{{{^}}'dist.stages' op gives schedule 'gpipe' a table; only schedule file("table.txt") has one{{$}}}}
  // expected-error-re @+1 {{{{^}}'dist.stages' op cuts 0 layers for piece 1; at least 1 is needed{{$}}}}
  stages over "pp" cuts [8, 0] schedule gpipe("table.txt")
}

// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+2 {{{{^}}'dist.stages' op has 2147483647 chunks; at most 1024 are possible{{$}}}}
  // expected-error-re @+1 {{{{^}}'dist.stages' op cuts 4294967298 layers for piece 0; at most 2147483647 are possible{{$}}}}
  stages over "pp" cuts [4294967298, 2] schedule gpipe chunks 2147483647
}
