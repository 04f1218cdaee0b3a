"""Trains a model in f32 and in another precision, and demands that the losses stay within a part of each other.

usage: precision_curve.py MODEL PLAN --data FILE --work DIR --steps N --precision TEXT --within PART

Compared are the means of the last five losses.
"""
import os
import sys

import runs

parser = runs.job_parser()
parser.add_argument("--precision", required=True)
parser.add_argument("--within", type=float, required=True)
options = parser.parse_args()


def last(precision, name):
    folder = os.path.join(options.work, name)
    model = runs.with_precision(options.model, precision, folder + "-model")
    loss = [line["loss"] for line in runs.Run(model, options.plan, options.data, folder, options.steps, []).metrics]
    return sum(loss[-5:]) / 5


single, other = last("", "f32"), last(options.precision, "other")
off = abs(other - single) / single
print(f"after {options.steps} steps: {single:.4f} in f32, {other:.4f} with {options.precision}: {100 * off:.2f} % apart")
sys.exit(not off <= options.within)
