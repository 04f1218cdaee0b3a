"""Trains a model under many plans and under one rank, and compares loss, gradient norm, gradients and parameters.

usage: same_numbers.py MODEL --data FILE --work DIR [--steps N] [--reference FLAGS] PLAN…     (a PLAN is flags of hocket compile, in one word)

Gradients are read from the first moments: after step 1 they are (1 - beta1) · clip · gradient. A key bias has no gradient but
rounding (softmax does not see a shift of all scores), so it is bounded by its absolute size instead of compared.
"""
import argparse
import os
import sys

import runs
import state

LIMIT = 1e-4
KEY_BIAS_LIMITS = {"Parameter": 1e-5, "FirstMoment": 1e-6, "SecondMoment": 1e-10}


def parts(key, values):
    """A tensor as (label, values, is a key bias): a fused QKV bias falls into three."""
    if not key[1].endswith("attn.qkv.bias"):
        return [(key[1], values, False)]
    third = len(values) // 3
    return [(f"{key[1]}[{letter}]", values[i * third:(i + 1) * third], letter == "k") for i, letter in enumerate("qkv")]


def state_faults(folder, reference, steps):
    faults, worst = [], {}
    for step in steps:
        try:
            mine = state.load(folder, step)
        except state.Fault as fault:
            faults.append(str(fault))
            continue
        theirs = reference[step]
        if mine.keys() != theirs.keys():
            faults.append(f"step {step}: tensors {sorted(mine.keys() ^ theirs.keys())} are only in one of the two")
        for key in sorted(mine.keys() & theirs.keys()):
            for (label, values, is_key_bias), (_, expected, _) in zip(parts(key, mine[key]), parts(key, theirs[key])):
                if is_key_bias:
                    size, limit = max(map(abs, values)), KEY_BIAS_LIMITS[key[0]]
                    if not size <= limit:
                        faults.append(f"step {step}: {key[0]} {label} is {size:.1e}, limit {limit:.0e}")
                    continue
                limit = 2 * LIMIT if key[0] == "SecondMoment" else LIMIT  # squares differ twice as much
                off = state.relative(values, expected)
                worst[key[0]] = max(worst.get(key[0], 0.0), off)
                if not off <= limit:
                    faults.append(f"step {step}: {key[0]} {label} is {off:.1e} off, limit {limit:.0e}")
    return faults, worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("plans", nargs="+")
    parser.add_argument("--data", required=True)
    parser.add_argument("--data-type", default="u8")
    parser.add_argument("--work", required=True)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--reference", default="--plan single")
    options = parser.parse_args()
    dumps = [1, options.steps]
    run = lambda plan, name: runs.Run(options.model, plan, options.data, os.path.join(options.work, name), options.steps, dumps, options.data_type)
    one = run(options.reference, "reference")
    if one.ranks != 1:
        raise SystemExit(f"the reference has {one.ranks} ranks, not 1")
    reference = {step: state.load(one.state, step) for step in dumps}
    failed = 0
    for index, plan in enumerate(options.plans):
        try:
            other = run(plan, f"plan{index}")
        except SystemExit as stop:
            print(f"{plan}: {stop}", flush=True)
            failed += 1
            continue
        faults, worst = runs.metric_faults(other, one)
        more, off = state_faults(other.state, reference, dumps)
        worst.update(off)
        print(f"{plan}: {other.ranks} ranks; " + ", ".join(f"{key} {value:.1e}" for key, value in worst.items()), flush=True)
        for fault in faults + more:
            print(f"  fault: {fault}")
        failed += bool(faults or more)
    print(f"{len(options.plans) - failed} of {len(options.plans)} plans give the numbers of one rank")
    return 1 if failed else 0


sys.exit(main())
