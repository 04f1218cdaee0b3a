"""Reads what `hocket-run --dump DIR --dump-steps …` wrote and puts the global tensors together (format: runtime/Executor/StateDump.h).

Each rank writes the box of each tensor that it holds. Here the boxes of one tensor must cover it, and where ranks hold the same box,
they must hold the same bits.
"""
import array
import glob
import itertools
import json
import math
import os


class Fault(Exception):
    """A dump that contradicts itself."""


def strides(shape):
    return [math.prod(shape[d + 1:]) for d in range(len(shape))]


def runs(box, shape):
    """The box's innermost rows as (start, length) in row-major order of a tensor of that shape."""
    if not shape:
        yield 0, 1
        return
    step = strides(shape)
    length = box[-1][1] - box[-1][0]
    for index in itertools.product(*(range(low, high) for low, high in box[:-1])):
        yield sum(i * s for i, s in zip(index, step)) + box[-1][0], length


def unpadded(tensor, data):
    """The values of a local buffer without its padding, row-major in the box."""
    inside = [[0, high - low] for low, high in tensor["box"]]
    values = array.array("f")
    for start, length in runs(inside, tensor["padded"]):
        values.extend(data[start:start + length])
    return values


def load(folder, step):
    """{(kind, name): array of the global tensor's floats} after a step."""
    boxes = {}
    paths = sorted(glob.glob(os.path.join(folder, f"step{step}.rank*.json")))
    if not paths:
        raise Fault(f"{folder}: nothing was dumped at step {step}")
    for path in paths:
        with open(path) as file:
            listing = json.load(file)
        with open(os.path.join(folder, listing["file"]), "rb") as file:
            raw = file.read()
        for tensor in listing["tensors"]:
            if tensor["type"] != "F32":
                raise Fault(f"{path}: {tensor['name']} is {tensor['type']}, not F32")
            data = array.array("f", raw[tensor["offset"]:tensor["offset"] + tensor["bytes"]])
            values = unpadded(tensor, data)
            shape, held = boxes.setdefault((tensor["kind"], tensor["name"]), (tensor["shape"], {}))
            box = tuple(map(tuple, tensor["box"]))
            other = held.setdefault(box, (values, listing["coordinates"]))
            if other[0].tobytes() != values.tobytes():
                raise Fault(f"step {step}: {tensor['kind']} {tensor['name']} {list(box)} differs between {other[1]} and {listing['coordinates']}")
    return {key: assemble(key, *value) for key, value in boxes.items()}


def assemble(key, shape, held):
    whole = array.array("f", bytes(4 * math.prod(shape)))
    covered = bytearray(len(whole))
    for box, (values, _) in held.items():
        at = 0
        for start, length in runs(box, shape):
            whole[start:start + length] = values[at:at + length]
            covered[start:start + length] = b"\1" * length
            at += length
    if not all(covered):
        raise Fault(f"{key[0]} {key[1]}: {covered.count(0)} of {len(whole)} elements are on no rank")
    return whole


def norm(values):
    return math.sqrt(sum(v * v for v in values))


def relative(values, reference):
    """‖values - reference‖ / ‖reference‖, of every n-th element where there are millions."""
    step = len(reference) // 1000003 + 1
    values, reference = values[::step], reference[::step]
    difference = math.sqrt(sum((a - b) * (a - b) for a, b in zip(values, reference)))
    return difference / norm(reference) if difference else 0.0
