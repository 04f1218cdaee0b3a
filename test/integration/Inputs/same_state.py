"""Demands that two dumps hold the same global tensors to the last bit, whatever the plans that wrote them.

usage: same_state.py FOLDER STEP FOLDER STEP
"""
import sys

import state

first, second = state.load(sys.argv[1], int(sys.argv[2])), state.load(sys.argv[3], int(sys.argv[4]))
faults = [f"{kind} {name} is in one dump only" for kind, name in sorted(first.keys() ^ second.keys())]
for key in sorted(first.keys() & second.keys()):
    if first[key].tobytes() != second[key].tobytes():
        faults.append(f"{key[0]} {key[1]}: {sum(a != b for a, b in zip(first[key], second[key]))} elements differ")
for fault in faults:
    print(f"fault: {fault}")
print(f"{len(first)} tensors compared")
sys.exit(1 if faults else 0)
