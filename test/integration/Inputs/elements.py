"""Adds the elements of parameters that hocket explain lists, and says how many rows of their first dimension that is.

usage: elements.py EXPLAINED.json NAME…
"""
import json
import math
import sys

shapes = {}


def find(value):
    """Every object with a name and a shape, wherever it stands."""
    if isinstance(value, dict):
        if "name" in value and "shape" in value:
            shapes[value["name"]] = value["shape"]
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            find(each)


with open(sys.argv[1]) as file:
    find(json.load(file))
chosen = [shapes[name] for name in sys.argv[2:]]
elements, hidden = sum(map(math.prod, chosen)), chosen[0][0]
assert all(shape[0] == hidden for shape in chosen), chosen
print(f"{elements} elements, {elements // hidden} rows of {hidden}")
