"""Memory of a run is what was planned, under each plan:
  no allocation over 64 KiB in steps 2..N: a run of one step makes as many as a run of N, on every rank;
  nothing above the arena is written, and its last page is;
  the proportional set size of all ranks together is within 3 % + 64 MiB + library_bytes a rank of the arenas.

usage: memory_as_planned.py MODEL --data FILE [--data-type T] --work DIR --steps N --counter LIBRARY PLAN…"""
import argparse
import json
import os
import shlex
import subprocess
import sys

PAGE = 4096

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("--data", required=True)
parser.add_argument("--data-type", default="u8")
parser.add_argument("--work", required=True)
parser.add_argument("--steps", type=int, required=True)
parser.add_argument("--counter", required=True)
parser.add_argument("plans", nargs="+")
args = parser.parse_args()
faults = []


def call(command, **environment):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"exit status {done.returncode}: {shlex.join(command)}\n{done.stderr}")
    return done.stdout


def run(program, arenas, steps, folder):
    """Of each rank's process: allocations, the largest, the tops of all arenas; and bytes of all processes at the peak."""
    os.makedirs(folder, exist_ok=True)
    for old in os.listdir(folder):
        os.remove(os.path.join(folder, old))
    metrics = folder + ".jsonl"
    call(["hocket-run", "-n", str(len(arenas)), program, "--data", args.data, "--data-type", args.data_type, "--steps", str(steps),
          "--metrics", metrics], LD_PRELOAD=args.counter, HOCKET_COUNT_TO=folder, HOCKET_COUNT_ARENAS=",".join(map(str, arenas)))
    ranks = [[int(n) for n in open(os.path.join(folder, each)).read().split()] for each in os.listdir(folder)]
    used = max(json.loads(line).get("memory_bytes", 0) for line in open(metrics))
    return ranks, used


for number, plan in enumerate(args.plans):
    work = os.path.join(args.work, str(number))
    os.makedirs(work, exist_ok=True)
    program = os.path.join(work, "program")
    report = json.loads(call(["hocket", "explain", args.model, *plan.split(), "--format=json"]))
    call(["hocket", "compile", args.model, *plan.split(), "-o", program])
    arenas = [rank["peak_bytes"] for rank in report["ranks"] for _ in range(rank["ranks"])]  # stages are the outermost axis
    library = sum(rank["library_bytes"] * rank["ranks"] for rank in report["ranks"])
    one, _ = run(program, arenas, 1, os.path.join(work, "one"))
    many, used = run(program, arenas, args.steps, os.path.join(work, "many"))

    def expect(holds, what):
        if not holds:
            faults.append(f"{plan}: {what}")

    counts = [sorted(rank[0] for rank in ranks) for ranks in (one, many)]
    expect(len(counts[0]) == len(counts[1]) == len(arenas), f"{len(counts[1])} of {len(arenas)} ranks were counted")
    expect(counts[0] == counts[1], f"allocations over 64 KiB on each rank: {counts[0]} in 1 step, {counts[1]} in {args.steps}")
    for rank, (arena, top) in enumerate(zip(arenas, many[0][2:])):
        expect(arena - PAGE < top <= arena, f"rank {rank} has written {top} of the {arena} bytes planned")
    planned = sum(arenas)
    bound = 0.03 * planned + (64 << 20) + library
    expect(used and abs(used - planned) <= bound, f"{used} bytes are used, {planned} planned, {bound:.0f} allowed between them")
    print(f"{plan}: {len(arenas)} rank{'s' if len(arenas) > 1 else ''}, {planned} bytes planned, {used - planned:+d} used, "
          f"{counts[1][0] if counts[1] else '?'} allocations before step 2", file=sys.stderr)

print("\n".join(faults) or f"memory is as planned under {len(args.plans)} plans")
sys.exit(bool(faults))
