"""Trains a model under two sets of flags and demands losses within a part of each other at every step.

usage: near_losses.py MODEL FLAGS FLAGS --data FILE --work DIR --steps N --within PART [--precision TEXT]
"""
import argparse
import os
import sys

import runs

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("flags", nargs=2)
parser.add_argument("--data", required=True)
parser.add_argument("--work", required=True)
parser.add_argument("--steps", type=int, required=True)
parser.add_argument("--within", type=float, required=True)
parser.add_argument("--precision", default="")
options = parser.parse_args()
model = runs.with_precision(options.model, options.precision, options.work)
one, two = (runs.Run(model, flags, options.data, os.path.join(options.work, f"run{i}"), options.steps, []).metrics
            for i, flags in enumerate(options.flags))
worst = max(abs(a["loss"] - b["loss"]) / abs(b["loss"]) for a, b in zip(one, two, strict=True))
print(f"losses are at most {worst:.1e} apart, limit {options.within:.0e}")
sys.exit(not worst <= options.within)
