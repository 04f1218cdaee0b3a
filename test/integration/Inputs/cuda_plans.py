"""Trains small models under each plan of a table twice: by the program for CPUs, and by the one for GPUs on emulated ranks, under several
orders of streams. Losses and gradient norms must be the CPU's within a part of them, and those of all orders the same to the last bit.

usage: cuda_plans.py TABLE --group NAME [--only WORD] --seeds FIRST-LAST --steps N --work DIR [--jobs N]

A line of the table: GROUP; MODEL; PRECISION; FLAGS. Models are named from the table's folder; `small-gpt layers=4 tokens=24` is small-gpt.mlir with four
layers and 24 positions. PRECISION is f32 (losses within 1e-5, norms 1e-4) or bf16 (4e-3, and two roundings of 2^-8: see same_numbers.py), or more:
`bf16 master f32`. The steps after the first must be launches of a graph. Under the first order the emulator
looks for races, bad accesses and missing events, which it finds in any.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import sys

import runs

LIMITS = {"f32": {"loss": 1e-5, "grad_norm": 1e-4}, "bf16": {"loss": 4e-3, "grad_norm": 2 * 2**-8}}


def model_of(text, precision, here, folder):
    """The model's file, its numbers replaced and its precision put in."""
    name, *changes = text.split()
    with open(os.path.join(here, name + ".mlir")) as file:
        source = file.read()
    for what, number in (change.split("=") for change in changes):
        if what == "layers":
            source, count = re.subn(r'\) \d+ as "', f') {number} as "', source)
        else:
            old = re.search(r"\?x(\d+)x", source)[1]
            source, count = re.subn(rf"(\?x|tensor<){old}(?=x)", rf"\g<1>{number}", source)
        assert what in ("layers", "tokens") and count, what
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, os.path.basename(name) + ".mlir")
    with open(path, "w") as file:
        file.write(source)
    kind, _, more = precision.partition(" ")
    return path if precision == "f32" else runs.with_precision(path, f"params {kind} compute {kind} accumulate f32 {more}".strip(), folder)


def metrics(path):
    with open(path) as file:
        return [(line["step"], line["loss"], line["grad_norm"]) for line in map(json.loads, file)]


def passes(path):
    """How each pass was queued: 'queued' or 'graph'."""
    with open(path) as file:
        return [line["pass"] for line in map(json.loads, file) if "pass" in line]


def train(plan, folder, options):
    """What one line of the table gives: a sentence, and whether it is as it should be."""
    model, precision, flags = plan
    limits = LIMITS[precision.split()[0]]
    path = model_of(model, precision, os.path.dirname(options.table), folder)
    tokens = os.path.join(options.work, "tokens")
    run = ["--data", tokens, "--steps", str(options.steps), "--timeout", "300", "--metrics"]
    program = os.path.join(folder, "cpu")
    compiled = runs.call(["hocket", "compile", path, *shlex.split(flags), "--threads", "1", "-o", program])
    ranks = str(runs.ranks_of(flags, compiled))
    runs.call(["hocket-run", "-n", ranks, program, *run, program + ".metrics"])
    cpu = metrics(program + ".metrics")
    program = os.path.join(folder, "cuda")
    runs.call(["hocket", "compile", path, *shlex.split(flags), "--target=cuda", "-o", program])
    first, last = map(int, options.seeds.split("-"))
    seen, worst = [], {"loss": 0.0, "grad_norm": 0.0}
    for seed in range(first, last + 1):
        check = str(int(seed == first))
        runs.call(["env", "HOCKET_EMULATOR_CHECK=" + check, "hocket-run", "-n", ranks, program, f"--emulate={seed}", "--log-calls", program + ".calls",
                   *run, program + ".metrics"])
        seen.append(metrics(program + ".metrics"))
        if (how := passes(program + ".calls.rank0")) != ["queued"] + ["graph"] * (options.steps - 1):
            return f"fault: passes are {how}", False
    for (step, *mine), (of, *theirs) in zip(seen[0], cpu, strict=True):
        assert step == of
        for key, a, b in zip(worst, mine, theirs):
            worst[key] = max(worst[key], abs(a - b) / abs(b))
    same = all(each == seen[0] for each in seen)
    good = same and all(worst[key] <= limits[key] for key in worst)
    text = ", ".join(f"{key} {worst[key]:.1e}" for key in worst)
    return f"{ranks} ranks; at most {text} from the CPU's{'' if same else '; other bits under other orders'}{'' if good else ': fault'}", good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("table")
    parser.add_argument("--group", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with open(options.table) as file:
        lines = [[part.strip() for part in line.split(";")] for line in file if line.strip() and not line.startswith("#")]
    plans = [plan for group, *plan in lines if group == options.group and options.only in " ".join(plan)]
    assert plans, f"no line of group {options.group}"
    os.makedirs(options.work, exist_ok=True)
    runs.call([sys.executable, os.path.join(os.path.dirname(__file__), "write_tokens.py"), os.path.join(options.work, "tokens"),
               "--vocab", "97", "--count", "3000"])

    def one(index):
        try:
            return train(plans[index], os.path.join(options.work, f"plan{index}"), options)
        except (SystemExit, Exception) as stop:
            return f"fault: {type(stop).__name__} {stop}", False

    good = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for plan, (text, fine) in zip(plans, pool.map(one, range(len(plans)))):
            good += fine
            print(f"{plan[0]}, {plan[1]}, {plan[2]}: {text}", flush=True)
    print(f"{good} of {len(plans)} plans train on emulated GPUs as on CPUs")
    return good != len(plans)


sys.exit(main())
