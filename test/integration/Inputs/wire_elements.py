"""Holds what a rank sends for one layer and microbatch to closed forms.

    wire_elements.py MODEL --layers PREFIX --count L --sizes b=1,s=24,h=132,q=132,kv=132 PLAN…

`q` and `kv`: elements of a token's queries, and of its keys (values are as many), over all heads. A PLAN is flags of hocket explain
in one word. With t tensor-parallel and n context-parallel ranks, in elements sent by a rank:

    tp                    2 + 2 all_reduces of b s/n h                                        4 · 2 (t-1)/t · b s/n h
    sequence parallelism  2 gathers and 2 scatters forward, as many backward, 2 gathers again 10 · (t-1)/t · b s/n h
    context all_gather    keys and values, again backward, and scatters of their gradients    6 · (n-1)/n · b s kv/t
    context ring          blocks of keys and values, again backward, and gradients with them  6 · (n-1) · b s/n kv/t
    context all_to_all    q, k, v there and the output back, forward and backward             4 · (n-1)/n · b s/n (q + kv)/t
"""
import argparse
import json
import re
import subprocess
import sys


def axes_of(plan):
    return {name: int(size) for name, size in re.findall(r"(\w+)=(\d+)", re.search(r"--mesh (\S+)", plan).group(1))}


def expected(plan, z):
    axes = axes_of(plan)
    t, n = axes.get("tp", 1), axes.get("cp", 1)
    activation = z["b"] * z["s"] // n * z["h"]
    sent = {"tp": (10 if "--sequence-parallel" in plan else 8) * (t - 1) * activation // t if t > 1 else 0}
    kind = re.search(r"--context (\w+)", plan).group(1) if "--context" in plan else "ring"
    tokens = z["b"] * z["s"]
    if n == 1:
        sent["cp"] = 0
    elif kind == "ring":
        sent["cp"] = 6 * (n - 1) * (tokens // n) * (z["kv"] // t)
    elif kind == "all_gather":
        sent["cp"] = 6 * (n - 1) * tokens * (z["kv"] // t) // n
    else:
        sent["cp"] = 4 * (n - 1) * (tokens // n) * ((z["q"] + z["kv"]) // t) // n
    return sent


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("plans", nargs="+")
    parser.add_argument("--layers", required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--sizes", required=True)
    options = parser.parse_args()
    sizes = {name: int(value) for name, value in (pair.split("=") for pair in options.sizes.split(","))}
    failed = 0
    for plan in options.plans:
        ran = subprocess.run(["hocket", "explain", options.model, *plan.split(), "--format=json"], capture_output=True, text=True)
        if ran.returncode:
            raise SystemExit(ran.stderr)
        report = json.loads(ran.stdout)
        microbatches = sum(word.startswith("F") for word in report["ranks"][0]["order"].split())
        sent, kinds = {"tp": 0, "cp": 0}, {}
        for t in report["transfers"]:
            if t["phase"] in ("forward", "backward", "weight_grad") and t["path"].startswith(options.layers + "."):
                axis = t["axes"].split(":")[0]
                sent[axis] = sent.get(axis, 0) + t["sent"] * t["count"]
                kinds[t["op"]] = kinds.get(t["op"], 0) + t["count"]
        each = {axis: value / (4 * microbatches * options.count) for axis, value in sent.items()}
        wanted = expected(plan, sizes)
        same = each == {axis: float(value) for axis, value in wanted.items()}
        failed += not same
        made = ", ".join(f"{count // (microbatches * options.count)} {op}" for op, count in sorted(kinds.items()))
        print(f"{plan}: {'as the formula says' if same else f'sends {each}, by formula {wanted}'}; {made}")
    print(f"{len(options.plans) - failed} of {len(options.plans)} plans send what the formulas say")
    return 1 if failed else 0


sys.exit(main())
