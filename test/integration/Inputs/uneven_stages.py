"""Memory of stages with different numbers of layers is each stage's own, never the whole divided by the stages.

usage: hocket explain … --format=json | uneven_stages.py LAYERS,LAYERS,…

Every layer holds the same, so the parameters of a stage are its layers times one layer's, and what it has outside of layers."""
import json
import sys

layers = [int(n) for n in sys.argv[1].split(",")]
ranks = json.load(sys.stdin)["ranks"]
own = []
for rank in ranks:
    parts = rank["memory"]["layers"]
    inside = [part["bytes_by_class"] for part in parts if part["layer"].startswith("h.")]
    outside = [part["bytes_by_class"] for part in parts if not part["layer"].startswith("h.")]
    own.append((len(inside), {part["parameter"] for part in inside}, sum(part.get("parameter", 0) for part in outside)))
    total = sum(sum(part["bytes_by_class"].values()) for part in parts)
    slots, workspace = rank["memory"]["slots"], rank["memory"]["workspace"]
    total += slots["count"] * (slots["bytes"] - slots["busy_bytes"]) + workspace["bytes"] + rank["memory"]["alignment_bytes"]
    if total != rank["peak_bytes"]:
        sys.exit(f"stage {rank['stage']}: parts add up to {total}, the peak is {rank['peak_bytes']}")
assert [n for n, _, _ in own] == layers, own
assert len(set.union(*(each for _, each, _ in own))) == 1, own
one = own[0][1].pop()
for rank, (n, _, outside) in zip(ranks, own):
    assert rank["bytes_by_class"]["parameter"] == n * one + outside, (rank["stage"], rank["bytes_by_class"], one)
most = max(rank["peak_bytes"] for rank in ranks)
mean = sum(rank["peak_bytes"] for rank in ranks) / len(ranks)
print(f"stages of {layers} layers hold their own; the most is {'more than' if most > mean else 'not above'} the mean")
