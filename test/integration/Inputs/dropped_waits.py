"""Leaves out one wait for an event at a time (HOCKET_DROP_WAIT) of every rank. The emulator, which knows of each piece of work what it
touches and what is before it, must then end the run with the two pieces that nothing orders, under the first seed. Where it does
not, no two pieces that touch the same memory depend on this wait: that is held against --seeds orders of streams, all of which must give the
bits of the run with all waits, and the wait is named.

usage: dropped_waits.py PROGRAM RANKS --seeds N --data FILE --work DIR [--every K] [--needless MOST]

--every: only every K-th wait. --needless: at most so many waits may order nothing (none).
"""
import argparse
import collections
import concurrent.futures
import filecmp
import json
import os
import re
import shutil
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("ranks", type=int)
parser.add_argument("--seeds", type=int, required=True)
parser.add_argument("--data", required=True)
parser.add_argument("--work", required=True)
parser.add_argument("--every", type=int, default=1)
parser.add_argument("--needless", type=int, default=0)
parser.add_argument("--jobs", type=int, default=2)
options = parser.parse_args()
STEPS = "2"  # the second is the launch of a graph


def run(name, seed, drop="", check=True):
    """Exit status, what was printed, and the folder of the state after the last step."""
    folder = os.path.join(options.work, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    environment = dict(os.environ, HOCKET_EMULATOR_CHECK="1" if check else "0", HOCKET_DROP_WAIT=drop)
    done = subprocess.run(["hocket-run", "-n", str(options.ranks), options.program, f"--emulate={seed}", "--data", options.data, "--steps", STEPS,
                           "--dump", os.path.join(folder, "state"), "--dump-steps", STEPS, "--metrics", os.path.join(folder, "metrics"),
                           "--log-calls", os.path.join(folder, "calls"), "--timeout", "60"],
                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout, folder


def same(one, other):
    files = sorted(os.listdir(os.path.join(one, "state")))
    losses = [[(line["loss"], line["grad_norm"]) for line in map(json.loads, open(os.path.join(folder, "metrics")))] for folder in (one, other)]
    return losses[0] == losses[1] and not any(
        not filecmp.cmp(os.path.join(one, "state", name), os.path.join(other, "state", name), shallow=False) for name in files if name.endswith(".bin"))


def lines(folder, rank, key):
    with open(os.path.join(folder, f"calls.rank{rank}")) as calls:
        return [line for line in map(json.loads, calls) if key in line]


def judge(rank, drop):
    """(kind, text): "seen", or "needless", or "fault"."""
    status, text, folder = run(f"{rank}.{drop}", 1, f"{rank}@{drop}")
    told = re.search(r"(?m)^error: rank (\d+) .*, and no event orders the two$", text)
    if status == 3 and told and int(told[1]) == rank:
        return "seen", told[0]
    where = "; ".join(line["at"] for line in lines(folder, rank, "left_out")[:1])
    if status:
        return "fault", f"exit status {status} without the two pieces of work, at {where}: {text[-2000:]}"
    for seed in range(1, options.seeds + 1):
        status, text, mine = run(f"{rank}.{drop}", seed, f"{rank}@{drop}", check=False)
        if status or not same(whole, mine):
            return "fault", f"seed {seed} gives other results, though nothing seems to need it, at {where}"
    return "needless", where


status, text, whole = run("whole", 1)
assert status == 0, f"the run with all waits fails:\n{text}"
counts = [max(line["waits"] for line in lines(whole, rank, "pass")) for rank in range(options.ranks)]
tried = [(rank, drop) for rank in range(options.ranks) for drop in range(1, counts[rank] + 1, options.every)]
found = collections.Counter()
with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
    for (rank, drop), (kind, text) in zip(tried, pool.map(lambda each: judge(*each), tried)):
        found[kind] += 1
        if kind != "seen":
            print(f"rank {rank}, wait {drop}: {kind}: {text}", flush=True)
print(f"{sum(counts)} waits; of {len(tried)} left out {found['seen']} are told with the two pieces of work that they order; "
      f"{found['needless']} order none that touch the same memory")
sys.exit(found["fault"] > 0 or found["needless"] > options.needless or not found["seen"])
