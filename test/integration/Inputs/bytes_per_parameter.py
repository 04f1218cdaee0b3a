"""Prints the planned bytes of each parameter, by what they are for: bytes_per_parameter.py EXPLAIN.json

All ranks are alike. What each parameter, its accumulators and its optimizer state take is computed from the shapes and types
that explain gives, and compared with the bytes that it plans for each class of memory (which also hold a few numbers).
"""
import json
import sys
from math import prod

SIZE = {"f32": 4, "bf16": 2, "f16": 2}
document = json.load(open(sys.argv[1]))
(rank,) = document["ranks"]
total = {"parameter": 0, "accumulator": 0, "optimizer_state": 0}
whole_state = per_split = None
for state in rank["state"]:
    here, optimizer = prod(state["local"]), prod(state["optimizer_local"])
    master = SIZE.get(state["master_type"], 0)
    bytes_of = {
        "parameter": here * (SIZE[state["type"]] + (SIZE[state["compute_type"]] if state["compute_type"] != state["type"] else 0)),
        "accumulator": here * SIZE[state["accumulator_type"]] * (2 if state["name"] == "wte" else 1),  # used twice
        "optimizer_state": optimizer * (master + 2 * SIZE[state["moment_type"]]),
    }
    for kind, size in bytes_of.items():
        total[kind] += size
    if state["name"] == "h.0.mlp.fc.weight":
        print("h.0.mlp.fc.weight:", " + ".join(f"{size / here:g}" for size in bytes_of.values()), "bytes an element")
for kind, size in total.items():
    planned = rank["bytes_by_class"][kind]
    if not size <= planned < size + 64:
        sys.exit(f"{kind}: {planned} bytes are planned, {size} are needed")
print("accumulators:", *sorted({state["accumulator_type"] for state in rank["state"]}))
