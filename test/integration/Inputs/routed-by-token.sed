# small-moe.mlir with routers that read a frozen table of the tokens instead of what the layers made, through a gate that
# does not move: no rounding of a plan reaches a logit. The gate's gradient is there as before.
s/@layer(%x: tensor<?x24x48xf32>, /&%route: tensor<?x24x48xf32>, /
s/router_logits %n,/router_logits %route,/
s/repeat @layer(%x, %pos) 2 as "layers" : tensor<?x24x48xf32>, /repeat @layer(%x, %route, %pos) 2 as "layers" : tensor<?x24x48xf32>, tensor<?x24x48xf32>, /
/%x = embedding/a\
  %table = param "route" : tensor<97x48xf32> init normal(1.0)\
  %route = embedding %tokens, %table : tensor<?x24xi32>, tensor<97x48xf32> -> tensor<?x24x48xf32>
s/  seed 77/  group "route" frozen\n  group "layers.*.moe.gate.weight" lr_scale 1.0e-9\n&/
