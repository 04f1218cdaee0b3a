"""Trains in f16 with a dynamic loss scale and an overflow, and checks what every rank does then.

usage: loss_scale.py one-rank MODEL PLAN --data FILE --work DIR
           In step 2 one rank has one gradient that is infinite (HOCKET_POISON). Every rank skips the step: its state after step 2 is, byte
           by byte, that after step 1, but for the scale's own numbers; the scale has halved everywhere; step 3 goes on.
       loss_scale.py floor MODEL PLAN --data FILE --work DIR
           Every step overflows (MODEL sees to it). The scale falls to its floor, then the run ends; nothing has changed.
"""
import argparse
import glob
import json
import os
import subprocess
import sys

import runs

F16 = "params f16 compute f16 accumulate f32 reduce f32 master f32"


def state(folder, step):
    """{(rank, kind, name): bytes} of all ranks after a step."""
    tensors = {}
    for path in sorted(glob.glob(os.path.join(folder, f"step{step}.rank*.json"))):
        with open(path) as file:
            listing = json.load(file)
        with open(os.path.join(folder, listing["file"]), "rb") as file:
            raw = file.read()
        for tensor in listing["tensors"]:
            tensors[listing["rank"], tensor["kind"], tensor["name"]] = raw[tensor["offset"]:tensor["offset"] + tensor["bytes"]]
    return tensors


def compiled(options, scale):
    """The program in f16 with that loss scale, and its number of ranks."""
    model = runs.with_precision(options.model, f"{F16}; loss_scale {scale}", options.work)
    program = os.path.join(options.work, "program")
    return program, runs.ranks_of(options.plan, runs.call(["hocket", "compile", model, *options.plan.split(), "-o", program]))


class F16Run:
    def __init__(self, options, program, ranks, name, steps, dumps, poison=None):
        folder = os.path.join(options.work, name)
        os.makedirs(folder, exist_ok=True)
        self.ranks, metrics = ranks, os.path.join(folder, "metrics.jsonl")
        environment = dict(os.environ, HOCKET_POISON=poison) if poison else os.environ
        self.dumps = os.path.join(folder, "state")
        command = ["hocket-run", "-n", str(self.ranks), program, "--data", options.data, "--steps", str(steps), "--metrics", metrics,
                   "--dump", self.dumps, "--dump-steps", dumps]
        ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.status, self.output = ended.returncode, ended.stdout
        with open(metrics) as file:
            self.metrics = [json.loads(line) for line in file]


def changed(before, after):
    """(kind, name) of what differs on some rank; the ranks hold the same tensors in both."""
    assert before and before.keys() == after.keys(), (len(before), len(after))
    return {key[1:] for key in before if before[key] != after[key]}


def one_rank(options):
    program, ranks = compiled(options, "dynamic(initial = 1024, hysteresis = 1)")
    for rank in (0, 3, 6):
        run = F16Run(options, program, ranks, f"rank{rank}", 3, "1,2,3", poison=f"{rank}@2")
        if run.status:
            sys.exit(run.output)
        assert [line["skipped"] for line in run.metrics] == [False, True, False], run.metrics
        assert [line["loss_scale"] for line in run.metrics] == [1024, 1024, 512], run.metrics
        one, two, three = (state(run.dumps, step) for step in (1, 2, 3))
        assert {key[0] for key in one} == set(range(run.ranks)), "some rank wrote nothing"
        in_two = changed(one, two)
        assert in_two <= {("Scalar", "loss_scale"), ("Scalar", "good_steps"), ("Scalar", "hysteresis")}, in_two
        assert ("Scalar", "loss_scale") in in_two
        scales = {two[key] for key in two if key[1:] == ("Scalar", "loss_scale")}
        assert len(scales) == 1, scales
        in_three = changed(two, three)
        assert {key for key in in_two | in_three if key[0] == "Scalar"} >= {("Scalar", "updates")}
        assert {"Parameter", "Master", "FirstMoment", "SecondMoment"} <= {kind for kind, _ in in_three}, in_three
        print(f"an overflow on rank {rank}: all {run.ranks} ranks skip step 2 and halve the scale")


def floor(options):
    run = F16Run(options, *compiled(options, "dynamic"), "floor", 30, "0,17")
    print(run.output)
    print(f"ended with exit status {run.status}")
    scales = [line["loss_scale"] for line in run.metrics]
    assert scales[:17] == [65536, *(2.0**n for n in range(16, 0, -1))], scales
    assert all(line["skipped"] for line in run.metrics[:17]), run.metrics
    before, after = state(run.dumps, 0), state(run.dumps, 17)
    different = changed(before, after)
    assert different <= {("Scalar", "loss_scale"), ("Scalar", "good_steps"), ("Scalar", "hysteresis")}, different
    print(f"{len(different)} numbers of the scale differ after 17 skipped steps, and nothing else")


parser = argparse.ArgumentParser()
parser.add_argument("what", choices=["one-rank", "floor"])
parser.add_argument("model")
parser.add_argument("plan")
parser.add_argument("--data", required=True)
parser.add_argument("--work", required=True)
options = parser.parse_args()
{"one-rank": one_rank, "floor": floor}[options.what](options)
