"""Trains a model under many plans and under one rank, and compares loss, gradient norm, gradients and parameters.

usage: same_numbers.py MODEL --data FILE --work DIR [--steps N] [--reference FLAGS] [--precision TEXT] PLAN…
(a PLAN is flags of hocket compile, in one word; --precision puts another line of precision into the recipe)

Gradients are read from the first moments: after step 1 they are (1 - beta1) · clip · gradient. A key bias has no gradient but
rounding (softmax does not see a shift of all scores), so it is bounded by its absolute size instead of compared.

Limits. In f32 they are some hundred roundings. With bf16 or f16 a plan rounds at other places than one rank (a product split over tp
is rounded once a summand and once more as a sum), each time by a part u of the number, 2^-8 or 2^-11. An element of a gradient has
some dozens of roundings behind it, of random signs: r = 8 u. The loss is a mean over hundreds of tokens, whose roundings cancel: u / 4.
The norm is a mean over all gradients: 2 u. Adam's first steps are of one size and go by the sign of the gradient, which an error r
turns around for a part r / pi of the elements: so a parameter's way from its initial value may be 2 sqrt(r / pi) of its length off, and
what is kept in 16 bits half a unit, u, of its value more.
"""
import argparse
import math
import os
import sys

import runs
import state

class Limits:
    def __init__(self, precision):
        unit = 2**-8 if "compute bf16" in precision else 2**-11 if "compute f16" in precision else None
        self.loss, self.norm, gradient = (unit / 4, 2 * unit, 8 * unit) if unit else (1e-5, 1e-4, 1e-4)
        # squares differ twice as much
        self.tensors = {"FirstMoment": gradient, "SecondMoment": 2 * gradient, "Parameter": gradient, "Scalar": 0.0}
        self.way, self.unit = 2 * math.sqrt(gradient / math.pi), unit
        # where the gradient is noise: five of Adam's steps of at most 1e-3
        self.key_bias = {"Parameter": 5e-3, "Master": 5e-3, "FirstMoment": unit / 8, "SecondMoment": unit**2} if unit else {
            "Parameter": 1e-5, "FirstMoment": 1e-6, "SecondMoment": 1e-10}



def parts(key, values):
    """A tensor as (label, values, is a key bias): a fused QKV bias falls into three."""
    if not key[1].endswith("attn.qkv.bias"):
        return [(key[1], values, False)]
    third = len(values) // 3
    return [(f"{key[1]}[{letter}]", values[i * third:(i + 1) * third], letter == "k") for i, letter in enumerate("qkv")]


def off_the_way(values, expected, start, limits):
    """How far a parameter is off, in parts of what the limits allow."""
    length = lambda a, b: math.sqrt(sum((x - y) * (x - y) for x, y in zip(a, b)))
    allowed = limits.way * length(expected, start) + limits.unit * state.norm(expected)
    return length(values, expected) / allowed if values.tobytes() != expected.tobytes() else 0.0


def state_faults(folder, reference, steps, limits):
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
        faults += state.master_faults(folder, step)
        for key in sorted(mine.keys() & theirs.keys()):
            for (label, values, is_key_bias), (_, expected, _) in zip(parts(key, mine[key]), parts(key, theirs[key])):
                if is_key_bias:
                    size, limit = max(map(abs, values)), limits.key_bias[key[0]]
                    if not size <= limit:
                        faults.append(f"step {step}: {key[0]} {label} is {size:.1e}, limit {limit:.0e}")
                    continue
                if limits.unit and key[0] in ("Parameter", "Master"):
                    start = dict((name, values) for name, values, _ in parts(key, reference[0][key]))[label]
                    limit, off = 1, off_the_way(values, expected, start, limits)
                else:
                    limit, off = limits.tensors[key[0]], state.relative(values, expected)
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
    parser.add_argument("--precision", default="")
    options = parser.parse_args()
    limits = Limits(options.precision)
    model = runs.with_precision(options.model, options.precision, options.work)
    dumps = [1, options.steps]
    run = lambda plan, name: runs.Run(model, plan, options.data, os.path.join(options.work, name), options.steps, [0, *dumps], options.data_type)
    one = run(options.reference, "reference")
    if one.ranks != 1:
        raise SystemExit(f"the reference has {one.ranks} ranks, not 1")
    reference = {step: state.load(one.state, step) for step in [0, *dumps]}
    failed = 0
    for index, plan in enumerate(options.plans):
        try:
            other = run(plan, f"plan{index}")
        except SystemExit as stop:
            print(f"{plan}: {stop}", flush=True)
            failed += 1
            continue
        faults, worst = runs.metric_faults(other, one, limits.loss, limits.norm)
        more, off = state_faults(other.state, reference, dumps, limits)
        worst.update(off)
        print(f"{plan}: {other.ranks} ranks; " + ", ".join(f"{key} {value:.1e}" for key, value in worst.items()), flush=True)
        for fault in faults + more:
            print(f"  fault: {fault}")
        failed += bool(faults or more)
    print(f"{len(options.plans) - failed} of {len(options.plans)} plans give the numbers of one rank")
    return 1 if failed else 0


sys.exit(main())
