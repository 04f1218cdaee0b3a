"""Trains a model under several plans (or one plan several times) and demands the same bits: metrics but for seconds, and all dumped state.

usage: same_bits.py MODEL --data FILE --work DIR [--steps N] [--precision TEXT] (PLAN PLAN… | --plans FILE, one a line)
"""
import argparse
import os
import sys

import runs
import state


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("plans", nargs="*")
    parser.add_argument("--plans", dest="file")
    parser.add_argument("--data", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--precision", default="")
    options = parser.parse_intermixed_args()
    if options.file:
        options.plans += open(options.file).read().splitlines()
    model = runs.with_precision(options.model, options.precision, options.work)
    dumps = [1, options.steps]
    first, failed = None, 0
    for index, plan in enumerate(options.plans):
        try:
            run = runs.Run(model, plan, options.data, os.path.join(options.work, f"plan{index}"), options.steps, dumps)
            metrics = [{key: line[key] for key in ("step", "loss", "grad_norm", "lr", "tokens")} for line in run.metrics]
            tensors = {(step, *key): value for step in dumps for key, value in state.load(run.state, step).items()}
        except (SystemExit, state.Fault) as stop:
            print(f"{plan}: {stop}", flush=True)
            failed += 1
            continue
        first = first or (metrics, tensors)
        faults = [f"metrics {mine} are not {theirs}" for mine, theirs in zip(metrics, first[0], strict=True) if mine != theirs]
        for key in sorted(tensors.keys() | first[1].keys()):
            mine, theirs = tensors.get(key), first[1].get(key)
            if mine is None or theirs is None or mine.tobytes() != theirs.tobytes():
                count = sum(a != b for a, b in zip(mine or (), theirs or ()))
                faults.append(f"step {key[0]}: {key[1]} {key[2]}: {count} elements differ from the first plan's")
        print(f"{plan}: {len(tensors)} tensors compared", flush=True)
        for fault in faults:
            print(f"  fault: {fault}")
        failed += bool(faults)
    print(f"{len(options.plans) - failed} of {len(options.plans)} runs equal the first to the last bit")
    return 1 if failed or first is None else 0


sys.exit(main())
