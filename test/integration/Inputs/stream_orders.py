"""Runs a program for GPUs on the emulator under many orders of streams and demands the same bits of all, near a run on CPUs.

usage: stream_orders.py PROGRAM RANKS CPU-METRICS WITHIN --seeds FIRST-LAST --steps N --data FILE --work DIR [--checked N]

The emulator looks for races, bad accesses and missing events under the first N orders (all).
"""
import argparse
import json
import os
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("ranks")
parser.add_argument("cpu")
parser.add_argument("within", type=float)
parser.add_argument("--seeds", required=True)
parser.add_argument("--steps", required=True)
parser.add_argument("--data", required=True)
parser.add_argument("--work", required=True)
parser.add_argument("--checked", type=int, default=sys.maxsize)
options = parser.parse_args()


def losses(path):
    with open(path) as file:
        return [(line["step"], line["loss"], line["grad_norm"]) for line in map(json.loads, file)]


first, last = map(int, options.seeds.split("-"))
expected, seen, failed = losses(options.cpu), None, 0
for seed in range(first, last + 1):
    metrics = os.path.join(options.work, f"seed{seed}.metrics")
    run = subprocess.run(["hocket-run", "-n", options.ranks, options.program, f"--emulate={seed}", "--data", options.data, "--steps", options.steps,
                          "--metrics", metrics, "--timeout", "300"],
                         env=dict(os.environ, HOCKET_EMULATOR_CHECK=str(int(seed < first + options.checked))), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode:
        print(f"seed {seed}: exit status {run.returncode}\n{run.stdout}", flush=True)
        failed += 1
        continue
    mine = losses(metrics)
    worst = max(abs(a - b) / abs(b) for one, other in zip(mine, expected, strict=True) for a, b in zip(one, other))
    seen = seen or mine
    fault = worst > options.within or mine != seen
    failed += fault
    print(f"seed {seed}: at most {worst:.1e} from the CPU's{', other bits than the first' if mine != seen else ''}{': fault' if fault else ''}", flush=True)
print(f"{last - first + 1 - failed} of {last - first + 1} orders of streams give the CPU's losses within {options.within:.0e}")
sys.exit(failed > 0)
