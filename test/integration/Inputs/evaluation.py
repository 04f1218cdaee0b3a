"""Evaluates on held-out files, beside training and alone, and compares.

usage: evaluation.py MODEL PLAN --data FILE (u16) --work DIR [--sequence N]

The model's plan `single` is the reference. Its batch is 8 sequences.
"""
import argparse
import json
import math
import os
import shutil

import runs

parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("plan")
parser.add_argument("--data", required=True)
parser.add_argument("--work", required=True)
parser.add_argument("--sequence", type=int, default=27, help="tokens of a sequence")
options = parser.parse_args()
BATCH = 8 * options.sequence

os.makedirs(options.work, exist_ok=True)
with open(options.data, "rb") as file:
    tokens = file.read()


def part(name, begin, end):
    """Tokens [begin, end) of the data as a file."""
    path = os.path.join(options.work, name)
    with open(path, "wb") as file:
        file.write(tokens[2 * begin:2 * end])
    return path


def train(plan, name, extra):
    folder = os.path.join(options.work, name)
    lines = []
    run = runs.Run(options.model, plan, options.data, folder, 4, [4], "u16", extra, evaluations=lines)
    return run, lines


def evaluate(folder, ranks, held, *extra):
    """The line of an evaluation-only run of an executable that was compiled before."""
    metrics = os.path.join(folder, "evaluation.jsonl")
    if os.path.exists(metrics):  # a resumed run appends
        os.remove(metrics)
    runs.call(["hocket-run", "-n", str(ranks), os.path.join(folder, "program"), "--eval-data", held, "--data-type", "u16", "--steps", "0",
               "--metrics", metrics, *extra])
    with open(metrics) as file:
        lines = [json.loads(line) for line in file]
    assert len(lines) == 1 and list(lines[0]) == ["step", "eval_loss", "eval_tokens", "eval_seconds"], lines
    return lines[0]


def state(run):
    """Every file of the state that the run dumped."""
    found = {}
    for name in sorted(os.listdir(run.state)):
        with open(os.path.join(run.state, name), "rb") as file:
            found[name] = file.read()
    return found


def near(a, b, limit, what):
    if not abs(a - b) <= limit * abs(b):
        print(f"fault: {what}: {a!r} and {b!r}, limit {limit:.0e}")


losses = lambda run: [{key: line[key] for key in ("step", "loss", "grad_norm", "lr", "tokens")} for line in run.metrics]
held = part("held", 1000, 1000 + 2 * BATCH + 41)  # two batches, one sequence and 13 tokens of another: 40 beyond them count

bare, none = train(options.plan, "bare", [])
saved = os.path.join(options.work, "saved")
shutil.rmtree(saved, ignore_errors=True)
run, lines = train(options.plan, "run", ["--eval-data", held, "--eval-every", "2", "--save", saved, "--save-every", "4"])
if none or losses(bare) != losses(run) or state(bare) != state(run):
    print("fault: evaluation changes training")
print("training is the same to the last bit with and without evaluation")
if [line["step"] for line in lines] != [0, 2, 4] or {line["eval_tokens"] for line in lines} != {2 * BATCH + 40}:
    print(f"fault: evaluations {lines}")
if not lines[2]["eval_loss"] < lines[0]["eval_loss"]:
    print("fault: nothing was learned")

# A file of one batch is trained on as a whole in the first step, in some order.
exact = part("exact", 1000, 1000 + BATCH + 1)
single = runs.Run(options.model, "--plan single", exact, os.path.join(options.work, "single"), 1, [], "u16")
alone = evaluate(single.folder, 1, exact)
near(alone["eval_loss"], single.metrics[0]["loss"], 1e-6, "one batch, evaluated and trained")
if alone["eval_tokens"] != BATCH:
    print(f"fault: {alone}")
print("one batch as training computes it")

# Sequences do not see each other: a file is the sum of its parts, cut between sequences, whatever the remainder.
whole = evaluate(single.folder, 1, held)
head = evaluate(single.folder, 1, held, "--eval-steps", "2")
tail = evaluate(single.folder, 1, part("tail", 1000 + 2 * BATCH, 1000 + 2 * BATCH + 41))
if (head["eval_tokens"], tail["eval_tokens"]) != (2 * BATCH, 40):
    print(f"fault: {head} {tail}")
weighted = lambda line: line["eval_loss"] * line["eval_tokens"]
near(math.fsum([weighted(head), weighted(tail)]), weighted(whole), 1e-12, "head and tail against the whole")
print("head and tail make the whole")

near(lines[0]["eval_loss"], whole["eval_loss"], 1e-6, "many ranks against one")
if evaluate(run.folder, run.ranks, held)["eval_loss"] != lines[0]["eval_loss"]:
    print("fault: alone and before step 1 differ")
print(f"{run.ranks} ranks against one")

resumed = evaluate(run.folder, run.ranks, held, "--resume", saved)
if resumed["step"] != 4 or resumed["eval_loss"] != lines[2]["eval_loss"]:
    print(f"fault: the checkpoint of step 4 evaluates to {resumed}, the run that saved it to {lines[2]}")
print("what was saved evaluates as what was trained")
