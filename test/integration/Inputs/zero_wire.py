"""Elements on the wire of a step, by formula, for ZeRO 0 to 3.

usage: zero_wire.py MODEL --microbatches M --looked-up NAME,… [--tied NAME,…] MESH STAGE[:GATHER] …
(MESH is of `hocket explain --mesh`; the plan is written by this script, so that it can say how parameters are gathered)

With n ranks along dp, every collective of a parameter sends (n-1)/n of an element for each element of its padded whole, an
all_reduce twice that. Of a parameter of Psi elements (after tp) whose uses are u (two, of a tied one whose uses lie on one stage):
  0, and whatever is kept whole below 64 KiB   all_reduce of the sum of all uses in update                    2 Psi
  1   reduce_scatter and all_gather in update                                                                  2 Psi
  2   reduce_scatter of each use in microbatch, all_gather once                                             (m u + 1) Psi
  3   reduce_scatter of each use in microbatch, and gathered
        per_use       for each use forward, and again backward where that reads it      m (2 u - looked up + u) Psi
        kept          for each use                                                                       2 m u Psi
        once          in begin                                                                         (m u + 1) Psi
        once_partial  in begin; gradients as in 1                                                             2 Psi
(the gradient of a table that is looked up does not read the table, so it is not gathered again for it)
Padded whole: the dimension that is split is the first that n divides, after tp, else the largest; then n ceil(size / n).
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("mesh")
parser.add_argument("stages", nargs="+")
parser.add_argument("--microbatches", type=int, required=True)
parser.add_argument("--looked-up", default="")
parser.add_argument("--tied", default="")
parser.add_argument("--bytes", type=int, default=4, help="of an element of gradients and of what is gathered")
options = parser.parse_args()
axes = dict(axis.split("=") for axis in options.mesh.split(","))
n, pp = int(axes["dp"]), int(axes.get("pp", 1))
looked_up, tied = options.looked_up.split(","), options.tied.split(",")


def plan(stage, gather):
    mesh = ", ".join(f'"{name}"={size}' for name, size in axes.items())
    lines = [f"dist.mesh @wire_mesh<{mesh}>", "dist.plan @wire for @gpt on @wire_mesh {", '  batch over "dp" microbatch 1 sequences']
    lines += ['  split megatron over "tp"'] if "tp" in axes else []
    lines += ['  stages over "pp" schedule "1f1b"'] if "pp" in axes else []
    return "\n".join(lines + [f'  zero {stage} over "dp"' + (f" gather {gather}" if gather else ""), "}", ""])


def explain(stage, gather):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(open(options.model).read() + plan(stage, gather))
        file.flush()
        out = subprocess.run(["hocket", "explain", file.name, "--plan", "wire", "--format=json"], stdout=subprocess.PIPE)
    if out.returncode:
        sys.exit(f"explain of zero {stage} {gather} ended with {out.returncode}")
    return json.loads(out.stdout)


def expected(stage, gather, holdings):
    m, total = options.microbatches, 0
    for name, shape, local in holdings:
        psi = math.prod(local)
        uses = 2 if name in tied and pp == 1 else 1
        # on the first of several stages a tied table is looked up, on the last it is multiplied with
        lookups = 1 if name in looked_up else 0
        if stage == 0 or math.prod(shape) * 4 < 65536:
            total += 2 * psi
            continue
        even = [d for d, (whole, size) in enumerate(zip(shape, local)) if size % n == 0 and whole % size == 0]
        dim = even[0] if even else max(range(len(local)), key=lambda d: (local[d], -d))
        psi = psi // local[dim] * n * -(-local[dim] // n)
        total += psi * {"1": 2, "2": m * uses + 1, "3per_use": m * (3 * uses - lookups), "3kept": 2 * m * uses,
                        "3once": m * uses + 1, "3once_partial": 2}[f"{stage}{gather}"]
    return total


faults = 0
base = explain(0, "")
for wanted in options.stages:
    stage, _, gather = wanted.partition(":")
    report = explain(stage, gather)
    for rank in base["ranks"]:
        index = rank["stage"]
        holdings = [(each["name"], each["shape"], each["local"]) for each in rank["state"]]
        last = pp > 1 and index == pp - 1
        if last:
            looked_up, kept = [], looked_up
        want = expected(int(stage), gather, holdings)
        if last:
            looked_up = kept
        mine = [t for t in report["transfers"] if t["stage"] == index and t["axes"] == "dp" and
                t["op"] in ("all_reduce", "all_gather", "reduce_scatter") and not any(
                    number in t["cause"] for number in ("square_sum", "the loss", "count_tokens"))]
        found = sum(t["bytes"] * t["count"] * (2 if t["op"] == "all_reduce" else 1) for t in mine)
        sent = sum(t["sent"] * t["count"] for t in mine)
        if found != want * options.bytes or abs(sent - want * options.bytes * (n - 1) / n) > sum(t["count"] for t in mine):
            faults += 1
            print(f"fault: zero {wanted} stage {index}: {found} bytes in collectives, formula {want * options.bytes}; {sent} sent")
        else:
            print(f"zero {wanted} stage {index}: {want} elements times {n - 1}/{n}, {len(mine)} collectives")
print("all as the formulas say" if not faults else f"{faults} faults")
sys.exit(1 if faults else 0)
