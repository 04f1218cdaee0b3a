"""Holds what `hocket explain --format=json` says of deepseek-v3 to formulas written here by hand.

    deepseek_by_hand.py EXPLAIN.json

Parameters, what a rank holds of them and of their optimizer state, the exchange of tokens, and the sums of experts' gradients. Formulas use
the sizes of the paper and of the plan, and nothing that the compiler says.
"""
import json
import sys
from math import prod

h, layers, dense, vocabulary, s = 7168, 61, 3, 129280, 4096
heads, nope, rotary, value, q_rank, kv_rank = 128, 128, 64, 128, 1536, 512
experts, top, wide, shared_wide, dense_wide, capacity_factor = 256, 8, 2048, 2048, 18432, 1.25
pp, dp, ep, batch = 16, 128, 64, 15360
microbatches = batch // dp
capacity = -(-int(top * s * capacity_factor) // experts)

attention = (h * q_rank + q_rank + q_rank * heads * (nope + rotary)  # queries
             + h * (kv_rank + rotary) + kv_rank + kv_rank * heads * (nope + value)  # keys and values
             + heads * value * h)
norms = 2 * h
routed = experts * 3 * h * wide
expert_layer = attention + norms + h * experts + routed + 3 * h * shared_wide
dense_layer = attention + norms + 3 * h * dense_wide
parameters = dense * dense_layer + (layers - dense) * expert_layer + 2 * vocabulary * h + h
active = parameters - (layers - dense) * routed * (experts - top) // experts

errors = []


def same(what, found, expected):
    if found != expected:
        errors.append(f"{what}: explain says {found}, by hand it is {expected}")


def layers_of(stage):
    """Dense and expert layers of a stage: 13 stages of 4, then 3 of 3; the dense ones are the first of all."""
    before = sum(layers // pp + (i < layers % pp) for i in range(stage))
    count = layers // pp + (stage < layers % pp)
    few = max(0, min(dense - before, count))
    return few, count - few


said = json.load(open(sys.argv[1]))
same("parameters", said["parameters"], parameters)
who = said["experts"]
same("ranks as tp pp cp dp", who["tp"] * who["pp"] * who["cp"] * who["dp"], pp * dp)
same("ranks as etp ep pp edp", who["etp"] * who["ep"] * who["pp"] * who["edp"], pp * dp)
same("ep, etp, edp", (who["ep"], who["etp"], who["edp"]), (ep, 1, dp // ep))
for rank in said["ranks"]:
    stage, where = rank["stage"], f"stage {rank['stage']}"
    few, many = layers_of(stage)
    whole = few * dense_layer + many * expert_layer
    whole += vocabulary * h * ((stage == 0) + (stage == pp - 1)) + h * (stage == pp - 1)
    same(f"{where}: parameters", sum(prod(each["shape"]) for each in rank["state"]), whole)
    same(f"{where}: on a rank", sum(prod(each["local"]) for each in rank["state"]), whole - many * routed * (ep - 1) // ep)
    for each in rank["state"]:
        if ".experts." in each["name"]:  # an expert has two homes, which share its optimizer state
            same(f"{where}: {each['name']}", (each["local"][0], each["optimizer_local"][0]), (experts // ep, experts // dp))
    exchanges = [each for each in said["transfers"] if each["stage"] == stage and each["op"] == "all_to_all"]
    same(f"{where}: exchanges", sum(each["count"] for each in exchanges), 4 * many * microbatches)
    elements = experts * 1 * capacity * h  # e b c h, one sequence a microbatch
    for each in exchanges:
        same(f"{where}: an exchange", (each["axes"], each["bytes"], each["sent"]),
             ("dp:(2)64", 2 * elements, 2 * elements * (ep - 1) // ep))
    sums = sorted(each["bytes"] for each in said["transfers"]
                  if each["stage"] == stage and each["op"] == "reduce_scatter" and each["axes"] == "dp:(1)2")
    mine = 4 * experts // ep * h * wide  # gradients in f32
    same(f"{where}: sums of experts' gradients", sums, sorted([mine, 2 * mine] * many))
print(*errors, sep="\n")
print(f"deepseek-v3: {parameters} parameters, {active} of them for a token, {4 * elements * (ep - 1) // ep} elements sent a layer and "
      f"microbatch; {'all as by hand' if not errors else 'NOT as by hand'}")
sys.exit(bool(errors))
