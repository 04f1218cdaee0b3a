"""Compares JSON lines of steps (of --metrics, or what hocket interpret prints): loss, gradient norm and counted tokens, step by step.

usage: compare_metrics.py A B (--within LIMIT | --beyond LIMIT)      relative; --beyond: every loss differs by more, tokens are equal
"""
import argparse
import json

parser = argparse.ArgumentParser()
parser.add_argument("a")
parser.add_argument("b")
limit = parser.add_mutually_exclusive_group(required=True)
limit.add_argument("--within", type=float)
limit.add_argument("--beyond", type=float)
options = parser.parse_args()


def load(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.startswith("{")]


def off(a, b, key):
    return abs(a[key] - b[key]) / abs(b[key])


a, b = load(options.a), load(options.b)
if not a or len(a) != len(b):
    raise SystemExit(f"{len(a)} and {len(b)} steps")
for one, two in zip(a, b):
    if one["tokens"] != two["tokens"]:
        raise SystemExit(f"step {one['step']}: {one['tokens']} and {two['tokens']} tokens")
    if options.beyond is not None and not off(one, two, "loss") > options.beyond:
        raise SystemExit(f"step {one['step']}: losses {one['loss']} and {two['loss']} are only {off(one, two, 'loss'):.1e} apart")
    for key in ("loss", "grad_norm"):
        if options.within is not None and not off(one, two, key) <= options.within:
            raise SystemExit(f"step {one['step']}: {key} {one[key]} and {two[key]} are {off(one, two, key):.1e} apart")
print(f"{len(a)} steps")
