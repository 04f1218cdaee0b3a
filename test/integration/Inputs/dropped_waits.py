"""Leaves out one wait for an event at a time (HOCKET_DROP_WAIT) and demands that some order of streams shows it: by other results than
with all waits, or by a rank that fails. Those that no order shows are listed; they are allowed where another wait says the same.

usage: dropped_waits.py PROGRAM RANKS --rank R --seeds N --data FILE --work DIR [--every K] [--unseen MOST]

--every: only every K-th wait. --unseen: at most so many may stay unseen (0).
"""
import argparse
import filecmp
import json
import os
import shutil
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("ranks")
parser.add_argument("--rank", default="0")
parser.add_argument("--seeds", type=int, required=True)
parser.add_argument("--data", required=True)
parser.add_argument("--work", required=True)
parser.add_argument("--every", type=int, default=1)
parser.add_argument("--unseen", type=int, default=0)
options = parser.parse_args()
STEPS = "2"


def run(name, seed, drop=None):
    """Exit status, and the folder of the state after the last step."""
    folder = os.path.join(options.work, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    environment = dict(os.environ, HOCKET_EMULATOR_CHECK="0")
    if drop:
        environment["HOCKET_DROP_WAIT"] = f"{options.rank}@{drop}"
    status = subprocess.run(["hocket-run", "-n", options.ranks, options.program, f"--emulate={seed}", "--data", options.data, "--steps", STEPS,
                             "--dump", os.path.join(folder, "state"), "--dump-steps", STEPS, "--metrics", os.path.join(folder, "metrics"),
                             "--log-calls", os.path.join(folder, "calls"), "--timeout", "20"],
                            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    return status, folder


def same(one, other):
    files = sorted(os.listdir(os.path.join(one, "state")))
    losses = [[(line["loss"], line["grad_norm"]) for line in map(json.loads, open(os.path.join(folder, "metrics")))] for folder in (one, other)]
    return losses[0] == losses[1] and not any(
        not filecmp.cmp(os.path.join(one, "state", name), os.path.join(other, "state", name), shallow=False) for name in files if name.endswith(".bin"))


status, whole = run("whole", 1)
assert status == 0, "the run with all waits fails"
with open(os.path.join(whole, f"calls.rank{options.rank}")) as calls:
    waits = max(line["waits"] for line in map(json.loads, calls) if "pass" in line)
unseen, tried = [], range(1, waits + 1, options.every)
for drop in tried:
    for seed in range(1, options.seeds + 1):
        status, mine = run("dropped", seed, drop)
        if status or not same(whole, mine):
            break
    else:
        unseen.append(drop)
print(f"{waits} waits; {len(tried) - len(unseen)} of {len(tried)} left out are seen; not seen: {', '.join(map(str, unseen)) or 'none'}")
sys.exit(len(unseen) > options.unseen)
