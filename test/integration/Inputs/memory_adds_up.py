"""Bytes by class of every stage add up to the arena, and none is negative (read as 2^64).

usage: hocket explain … --format=json | memory_adds_up.py"""

import json
import sys

for rank in json.load(sys.stdin)["ranks"]:
    classes = rank["bytes_by_class"]
    whole = sum(classes.values()) == rank["peak_bytes"] and all(0 <= size <= rank["peak_bytes"] for size in classes.values())
    print("stage", rank["stage"], "adds up" if whole else f"does not add up to {rank['peak_bytes']}: {classes}")
