"""Checks three metrics files: RECIPE (seed 77), SAME (--seed 77: equal but for seconds), OTHER (--seed 78: not equal)."""
import argparse
import json
import math

parser = argparse.ArgumentParser()
parser.add_argument("files", nargs=3)
parser.add_argument("--tokens", type=int, required=True)
parser.add_argument("--lr", required=True)
options = parser.parse_args()

keys = ["step", "loss", "grad_norm", "lr", "tokens", "seconds"]
read = lambda path: [json.loads(line) for line in open(path)]
recipe, same, other = map(read, options.files)
for lines in (recipe, same, other):
    assert [list(line) for line in lines] == [keys] * 3, lines
    assert [line["step"] for line in lines] == [1, 2, 3], lines
    assert all(line["tokens"] == options.tokens and line["seconds"] > 0 and line["grad_norm"] > 0 for line in lines), lines
    assert abs(lines[0]["loss"] - math.log(97)) < 0.5, lines[0]
for line, rate in zip(recipe, map(float, options.lr.split(","))):
    assert math.isclose(line["lr"], rate, rel_tol=1e-6), line
untimed = lambda lines: [{key: line[key] for key in keys[:-1]} for line in lines]
assert untimed(recipe) == untimed(same), (recipe, same)
assert recipe[0]["loss"] != other[0]["loss"], (recipe, other)
