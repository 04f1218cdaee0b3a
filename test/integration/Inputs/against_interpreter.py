"""Trains a model by an executable and by the interpreter, each result rounded to its declared type, and compares losses and norms.

usage: against_interpreter.py MODEL PLAN --data FILE --work DIR --steps N --precision TEXT --loss PART --norm PART

Both round every op's result to the same type; they differ in f32 against f64 inside an op, which moves a rounding now and then.
The loss in f64, nothing rounded, must be farther away: else the comparison would show nothing.
"""
import json
import os

import runs

parser = runs.job_parser()
parser.add_argument("--precision", required=True)
parser.add_argument("--loss", type=float, required=True)
parser.add_argument("--norm", type=float, required=True)
options = parser.parse_args()
model = runs.with_precision(options.model, options.precision, options.work)
run = runs.Run(model, options.plan, options.data, os.path.join(options.work, "run"), options.steps, [])


def interpreted(precision):
    printed = runs.call(["hocket", "interpret", model, *options.plan.split(), "--data", options.data, "--steps", str(options.steps),
                         "--precision", precision])
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


def worst(lines, key):
    return max(abs(a[key] - b[key]) / abs(b[key]) for a, b in zip(run.metrics, lines, strict=True))


declared, exact = interpreted("declared"), interpreted("f64")
for key, limit in (("loss", options.loss), ("grad_norm", options.norm)):
    near, far = worst(declared, key), worst(exact, key)
    print(f"{key}: {near:.1e} from declared types, {far:.1e} from f64")
    if not near <= limit:
        print(f"fault: {key} is {near:.1e} off, limit {limit:.0e}")
    if key == "loss" and not near < far:
        print("fault: the loss is no nearer to the interpreter's declared types than to its f64")
