"""Trains a model, demands that its loss has come down at given steps, and compares the first steps with those of another plan.

usage: curve.py MODEL PLAN --data FILE --work DIR --steps N [--auxiliary LOSS] [--limit STEP=LOSS]… [--against PLAN --first N]

The loss at a step is the mean of the five steps that end there. It must start within 0.1 of ln of --vocab.
"""
import math
import os
import sys

import runs

parser = runs.job_parser()
parser.add_argument("--vocab", type=int, default=256)
parser.add_argument("--auxiliary", type=float, default=0.0, help="what the loss holds at the start beside ln of the vocabulary")
parser.add_argument("--limit", action="append", default=[])
parser.add_argument("--against")
parser.add_argument("--first", type=int, default=10)
options = parser.parse_args()

run = runs.Run(options.model, options.plan, options.data, os.path.join(options.work, "run"), options.steps, [])
loss = [line["loss"] for line in run.metrics]
faults = []
if abs(loss[0] - math.log(options.vocab) - options.auxiliary) > 0.1:
    faults.append(f"loss starts at {loss[0]}, not near ln {options.vocab} + {options.auxiliary} = {math.log(options.vocab) + options.auxiliary:.4f}")
for limit in options.limit:
    step, most = int(limit.split("=")[0]), float(limit.split("=")[1])
    mean = sum(loss[step - 5:step]) / 5
    print(f"{options.plan}: mean loss of steps {step - 4} to {step}: {mean:.4f}, limit {most}")
    if not mean <= most:
        faults.append(f"step {step}: mean loss {mean:.4f} is above {most}")
if options.against:
    other = runs.Run(options.model, options.against, options.data, os.path.join(options.work, "against"), options.first, [])
    run.metrics = run.metrics[:options.first]
    more, worst = runs.metric_faults(run, other)
    print(f"{options.plan} against {options.against}: " + ", ".join(f"{key} {value:.1e}" for key, value in worst.items()))
    faults += more
for fault in faults:
    print(f"fault: {fault}")
sys.exit(1 if faults else 0)
