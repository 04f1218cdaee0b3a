"""Demands that two metrics files hold the same lines, but for seconds.

usage: metrics_equal.py FIRST SECOND
"""
import json
import sys


def lines(path):
    with open(path) as file:
        return [{key: value for key, value in json.loads(line).items() if key != "seconds"} for line in file]


first, second = map(lines, sys.argv[1:])
for mine, theirs in zip(first, second):
    if mine != theirs:
        raise SystemExit(f"{mine}\nis not\n{theirs}")
if len(first) != len(second):
    raise SystemExit(f"{len(first)} lines against {len(second)}")
print(f"{len(first)} lines are equal")
