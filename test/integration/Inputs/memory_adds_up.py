"""Bytes by class of every stage add up to the arena, and none is negative (read as 2^64). So do bytes by layer, with what slots and
workspace take beyond what layers hold; what update has behind the slots is no less than it must.

usage: hocket explain … --format=json | memory_adds_up.py"""

import json
import sys

for rank in json.load(sys.stdin)["ranks"]:
    classes = rank["bytes_by_class"]
    whole = sum(classes.values()) == rank["peak_bytes"] and all(0 <= size <= rank["peak_bytes"] for size in classes.values())
    memory = rank["memory"]
    parts = sum(sum(part["bytes_by_class"].values()) for part in memory["layers"])
    slots = memory["slots"]
    parts += slots["count"] * (slots["bytes"] - slots["busy_bytes"]) + memory["workspace"]["bytes"] + memory["alignment_bytes"]
    whole = whole and parts == rank["peak_bytes"] and slots["busy_bytes"] <= slots["bytes"] <= slots["unshared_bytes"]
    whole = whole and 0 <= memory["workspace"]["least_tail_bytes"] <= memory["workspace"]["tail_bytes"]
    print("stage", rank["stage"], "adds up" if whole else f"does not add up to {rank['peak_bytes']}: {classes}")
