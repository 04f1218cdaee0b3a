"""Compares the metrics of a model with dropout and of one without, on the same parameters: training sees it, evaluation does not.

usage: dropped.py WITH WITHOUT
"""
import json
import sys

lines = []
for path in sys.argv[1:]:
    with open(path) as file:
        lines.append([json.loads(line) for line in file])
training = [[line["loss"] for line in each if "loss" in line] for each in lines]
evaluation = [[line["eval_loss"] for line in each if "eval_loss" in line] for each in lines]
assert training[0] and evaluation[0], lines
print(f"training losses {'are equal' if training[0] == training[1] else 'differ'}, "
      f"evaluation losses {'are equal' if evaluation[0] == evaluation[1] else f'differ: {evaluation}'}")
