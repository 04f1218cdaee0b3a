"""Demands that two metrics files hold the same lines, but for what is measured.

usage: metrics_equal.py FIRST SECOND [--within RELATIVE] [--from STEP] [--ignore KEY,KEY]

--within: losses and gradient norm may differ by this much, as between two plans. --from: of FIRST only the steps from this one on count.
--ignore: keys that are not compared.
"""
import argparse
import json

from runs import MEASURED


OF_THE_PLAN = ("sent_bytes", "sent_bytes_max")


def lines(path):
    with open(path) as file:
        ignored = {*MEASURED, *options.ignore.split(","), *(OF_THE_PLAN if options.within else ())}
        return [{key: value for key, value in json.loads(line).items() if key not in ignored} for line in file]


def same(mine, theirs, within):
    close = [key for key in ("loss", "grad_norm", "eval_loss") if key in mine and within]
    return mine.keys() == theirs.keys() and all(
        abs(mine[key] - theirs[key]) <= within * abs(theirs[key]) if key in close else mine[key] == theirs[key] for key in mine)


parser = argparse.ArgumentParser()
parser.add_argument("first")
parser.add_argument("second")
parser.add_argument("--within", type=float, default=0.0)
parser.add_argument("--from", type=int, default=0, dest="begin")
parser.add_argument("--ignore", default="")
options = parser.parse_args()
first, second = [line for line in lines(options.first) if line["step"] >= options.begin], lines(options.second)
for mine, theirs in zip(first, second):
    if not same(mine, theirs, options.within):
        raise SystemExit(f"{mine}\nis not\n{theirs}")
if not first or len(first) != len(second):
    raise SystemExit(f"{len(first)} lines against {len(second)}")
print(f"{len(first)} lines are equal")
