// Plans that ask for uneven heads, for a model that the test puts in front (and in for @MODEL).
dist.mesh @three<"tp"=3>
dist.mesh @four<"dp"=2, "tp"=4>
dist.plan @uneven3 for @MODEL on @three {
  batch microbatch 2 sequences
  split megatron over "tp" uneven
}
dist.plan @uneven4 for @MODEL on @four {
  batch over "dp" microbatch 2 sequences
  split megatron over "tp" uneven
  zero 1 over "dp"
}
