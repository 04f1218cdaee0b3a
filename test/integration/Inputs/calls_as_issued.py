"""Compares the calls that `hocket explain --calls` announces with those that the ranks of a run asked for.

calls_as_issued.py OUT MODEL PLAN… -- RUN…: compiles MODEL for CUDA under PLAN, runs it with hocket-run RUN… on the emulator, for
every rank compares what it wrote down (--log-calls) in the first step, and in the first evaluation where there is one, with
what was announced for it, groups too; and that no later pass asked for anything else. Says how many calls were equal.
"""
import itertools
import json
import subprocess
import sys

out, model, *words = sys.argv[1:]
plan, run = words[:words.index("--")], words[words.index("--") + 1:]
target = plan + ["--target=cuda"]


def announced(rank):
    text = subprocess.run(["hocket", "explain", model, *target, "--calls", "--format=json", "--rank", str(rank)],
                          check=True, stdout=subprocess.PIPE).stdout
    told = json.loads(text)["ranks"][0]
    ranks = {each["name"]: each["ranks"] for each in told["communicators"]}
    entries = {}
    for entry, calls in told["calls"].items():
        # what a communicator is asked for is one thing, however many calls of NCCL it takes
        firsts = [next(same) for _, same in itertools.groupby(calls, key=lambda call: (call["row"], call["instruction"]))]
        entries[entry], groups = [], 0
        for _, together in itertools.groupby(firsts, key=lambda call: call["group"]):
            together = list(together)
            groups += len(together) > 1
            entries[entry] += [(call["op"], call["communicator"], ranks[call["communicator"]], call["count"], call["type"],
                                call.get("reduction", ""), groups if len(together) > 1 else 0) for call in together]
    return entries


def issued(rank):
    """By kind of pass, the passes of the log: lists of calls."""
    passes, calls = {"train": [], "eval": []}, []
    for line in open(f"{out}.calls.rank{rank}"):
        told = json.loads(line)
        if "pass" not in told:
            calls.append((told["call"], told["communicator"], told["ranks"], told["count"], told["type"],
                          told.get("reduction", ""), told.get("group", 0)))
            continue
        if told["pass"] != "graph" or calls:
            passes["eval" if "evaluation" in told else "train"].append(calls)
        calls = []
    return passes


def compare(rank, entry, expected, found):
    if not found:
        sys.exit(f"rank {rank}: no pass of {entry} was written down")
    for number, calls in enumerate(found):
        for place, (want, got) in enumerate(itertools.zip_longest(expected, calls)):
            if want != got:
                sys.exit(f"rank {rank}, pass {number} of {entry}, call {place}: announced {want}, issued {got}")


world = int(run[run.index("-n") + 1])
subprocess.run(["hocket", "compile", model, *target, "-o", out], check=True, stdout=subprocess.DEVNULL)
subprocess.run(["hocket-run", *run[:run.index("-n")], "-n", str(world), "--emulate", "--log-calls", f"{out}.calls", out,
                *run[run.index("-n") + 2:]], check=True, stdout=subprocess.DEVNULL)
equal, grouped, evaluates = 0, 0, "--eval-data" in run
for rank in range(world):
    told, log = announced(rank), issued(rank)
    for entry in ["train"] + ["eval"] * evaluates:
        compare(rank, entry, told[entry], log[entry])
        equal += len(told[entry])
        grouped += len({call[-1] for call in told[entry]} - {0})
print(f"{equal} calls of {world} ranks were issued as announced, {grouped} groups of them as one")
