"""Compiles a model under a plan and runs it: what the scripts that compare runs share."""
import argparse
import json
import math
import os
import re
import shlex
import shutil
import subprocess

MEASURED = ("seconds", "tokens_per_second", "flops_per_second", "wait_seconds", "memory_bytes", "memory_bytes_max", "eval_seconds")
"""Keys of metrics that differ from run to run."""


def job_parser():
    """The arguments of a script that trains a model under a plan: MODEL PLAN --data FILE --work DIR --steps N."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("plan")
    parser.add_argument("--data", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--steps", type=int, required=True)
    return parser


def call(command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if result.returncode:
        raise SystemExit(f"exit status {result.returncode}: {shlex.join(command)}\n{result.stdout}")
    return result.stdout


def ranks_of(plan, compiled):
    """The degrees of --mesh multiplied; for a plan of the file, what hocket compile printed."""
    mesh = re.search(r"--mesh (\S+)", plan)
    if mesh:
        return math.prod(int(axis.split("=")[1]) for axis in mesh[1].split(","))
    return int(re.search(r"hocket-run -n (\d+)", compiled)[1])


def with_precision(model, precision, folder):
    """A copy of the model whose recipe has that precision ("params bf16 compute bf16 accumulate f32"), and further entries after a ';'."""
    if not precision:
        return model
    with open(model) as file:
        text, count = re.subn(r"(?m)^  precision .*$", "  precision " + precision.replace(";", "\n  "), file.read())
    if count != 1:
        raise SystemExit(f"{model} has {count} lines 'precision …', not 1")
    os.makedirs(folder, exist_ok=True)
    copy = os.path.join(folder, os.path.basename(model))
    with open(copy, "w") as file:
        file.write(text)
    return copy


class Run:
    """One plan, compiled and trained in a folder of its own. threads is 1: part of what a bit depends on. Lines of metrics about
    evaluations are put into the list `evaluations`."""

    def __init__(self, model, plan, data, folder, steps, dumps, data_type="u8", extra=(), evaluations=None):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        self.plan, self.folder = plan, folder
        program = os.path.join(folder, "program")
        compiled = call(["hocket", "compile", model, *plan.split(), "--threads", "1", "-o", program])
        self.ranks = ranks_of(plan, compiled)
        metrics = os.path.join(folder, "metrics.jsonl")
        command = ["hocket-run", "-n", str(self.ranks), program, "--data", data, "--data-type", data_type, "--steps", str(steps),
                   "--metrics", metrics, *extra]
        if dumps:
            command += ["--dump", os.path.join(folder, "state"), "--dump-steps", ",".join(map(str, dumps))]
        call(command)
        with open(metrics) as file:
            lines = [json.loads(line) for line in file]
        self.metrics = [line for line in lines if "loss" in line]
        if evaluations is not None:
            evaluations += [line for line in lines if "eval_loss" in line]
        if [line["step"] for line in self.metrics] != list(range(1, steps + 1)):
            raise SystemExit(f"{plan}: metrics hold the steps {[line['step'] for line in self.metrics]}, not 1 to {steps}")
        self.state = os.path.join(folder, "state")


def metric_faults(run, reference, loss_limit=1e-5, norm_limit=1e-4):
    """Sentences about each step whose loss or gradient norm is not the reference's, and the worst relative differences."""
    faults, worst = [], {"loss": 0.0, "grad_norm": 0.0}
    for mine, theirs in zip(run.metrics, reference.metrics, strict=True):
        for key, limit in (("loss", loss_limit), ("grad_norm", norm_limit)):
            off = abs(mine[key] - theirs[key]) / abs(theirs[key])
            worst[key] = max(worst[key], off)
            if not off <= limit:
                faults.append(f"step {mine['step']}: {key} is {mine[key]!r}, the reference's {theirs[key]!r}: {off:.1e} apart, limit {limit:.0e}")
        for key in ("lr", "tokens", "loss_scale", "skipped"):
            if mine.get(key) != theirs.get(key):
                faults.append(f"step {mine['step']}: {key} is {mine.get(key)!r}, the reference's {theirs.get(key)!r}")
    return faults, worst
