"""Compares what `recompute auto` takes under a limit with the best of all choices, each compiled: fewest operations made again among those
whose planned memory fits.

usage: recompute_auto.py MODEL --layers N --parts ln_1,attn,… --mesh dp=1 --limits N
Layers are alike, so choices are tried up to their order. The limits are spread between the least and the most that any choice needs.
"""
import argparse
import itertools
import json
import subprocess
import sys


def explain(options, tactics, extra=()):
    words = [word for tactic in tactics for word in ("--recompute", tactic)]
    command = ["hocket", "explain", options.model, "--mesh", options.mesh, "--activations", "--format=json", *words, *extra]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        return None, run.stderr
    report = json.loads(run.stdout)
    peak = max(rank["peak_bytes"] for rank in report["ranks"])
    return peak, sum(stage["recomputed_flops"] for stage in report["activations"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--layers", type=int, required=True)
    parser.add_argument("--parts", required=True)
    parser.add_argument("--mesh", required=True)
    parser.add_argument("--limits", type=int, required=True)
    options = parser.parse_args()
    parts = options.parts.split(",")
    sets = [chosen for size in range(len(parts) + 1) for chosen in itertools.combinations(parts, size)]
    kinds = [lambda layer, chosen=chosen: [f"selective:{layer}.{part}" for part in chosen] for chosen in sets]
    kinds += [lambda layer: [f"selective:{layer}"], lambda layer: [f"full:{layer}"]]
    found = []
    for choice in itertools.combinations_with_replacement(kinds, options.layers):
        tactics = [tactic for number, kind in enumerate(choice) for tactic in kind(f"h.{number}")]
        found.append((*explain(options, tactics), tactics))
    least, most = min(peak for peak, _, _ in found), max(peak for peak, _, _ in found)
    faults = 0
    for step in range(options.limits):
        limit = least + (most - least) * step // (options.limits - 1)
        best = min(flops for peak, flops, _ in found if peak <= limit)
        peak, flops = explain(options, ["auto"], ["--memory", str(limit)])
        good = peak is not None and peak <= limit and flops == best
        faults += not good
        print(f"{limit} bytes: auto makes {flops} operations again and needs {peak} bytes, the best of {len(found)} makes {best}"
              + ("" if good else ": fault"))
    peak, text = explain(options, ["auto"], ["--memory", str(least - 1)])
    faults += peak is not None
    print([line.split("error: ")[1] for line in text.splitlines() if "error: " in line] if peak is None else "fault: fits too little")
    print(f"{options.limits} limits, {faults} faults")
    return 1 if faults else 0


sys.exit(main())
