"""Counts the layers h.N of each stage in `hocket explain --format=json`: "8 8 7 7 = 30"."""
import json
import re
import sys

counts = []
for rank in json.load(sys.stdin)["ranks"]:
    layers = 0
    for first, last in re.findall(r"h\.(\d+)(?: to h\.(\d+))?", rank["layers"]):
        layers += int(last or first) - int(first) + 1
    counts.append(layers)
print(*counts, "=", sum(counts))
