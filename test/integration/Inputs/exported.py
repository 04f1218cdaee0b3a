"""Demands that a safetensors file holds exactly the parameters of a dump, to the last bit.

usage: exported.py [--library] FILE DUMP STEP

Read by the dozen lines below, or with --library by Python's `safetensors`.
"""
import json
import struct
import sys

import state


def by_hand(raw):
    length = struct.unpack("<Q", raw[:8])[0]
    header, data = json.loads(raw[8:8 + length]), raw[8 + length:]
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])]) for name, entry in header.items()}


def by_library(raw):
    import safetensors
    return {name: (entry["dtype"], entry["shape"], bytes(entry["data"])) for name, entry in safetensors.deserialize(raw)}


library = "--library" in sys.argv
path, dump, step = [word for word in sys.argv[1:] if word != "--library"]
with open(path, "rb") as file:
    tensors = (by_library if library else by_hand)(file.read())
whole = {name: values for (kind, name), values in state.load(dump, int(step)).items() if kind == "Parameter"}
if tensors.keys() != whole.keys():
    raise SystemExit(f"fault: in one of the two only: {sorted(tensors.keys() ^ whole.keys())}")
for name, (dtype, shape, data) in tensors.items():
    if dtype != "F32" or len(data) != 4 * len(whole[name]) or data != whole[name].tobytes():
        raise SystemExit(f"fault: {name} ({dtype} {shape}) is not what the ranks dumped")
print(f"{len(tensors)} tensors hold the bits of the dump")
