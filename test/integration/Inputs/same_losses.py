"""Demands that files of metrics have the same losses and gradient norms at the same steps, within a part; whatever else they say.

usage: same_losses.py WITHIN FIRST OTHER…
"""
import json
import sys


def read(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.startswith("{")]


within, first, failed = float(sys.argv[1]), read(sys.argv[2]), 0
assert first, sys.argv[2]
for path in sys.argv[3:]:
    worst = max(abs(a[key] - b[key]) / abs(b[key]) for a, b in zip(read(path), first, strict=True) for key in ("loss", "grad_norm"))
    failed += not worst <= within
    print(f"{path}: at most {worst:.1e} apart, limit {within:.0e}{'' if worst <= within else ': fault'}")
print(f"{len(sys.argv) - 3 - failed} of {len(sys.argv) - 3} have the losses of the first")
sys.exit(failed > 0)
