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
import struct


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


def numbers(kind, raw):
    """The bytes of a buffer as floats. Numbers of 16 bits are exact as f32, those of counters too."""
    if kind == "BF16":
        wide = bytearray(2 * len(raw))
        wide[2::4], wide[3::4] = raw[0::2], raw[1::2]
        return array.array("f", bytes(wide))
    if kind == "F16":
        return array.array("f", struct.unpack(f"<{len(raw) // 2}e", raw))
    code = {"F32": "f", "I32": "i", "I64": "q"}[kind]
    return array.array("f", map(float, array.array(code, raw)))


def rounded(kind, value):
    """A number to the nearest of BF16 or F16, ties to even."""
    if kind == "F16":
        return struct.unpack("<e", struct.pack("<e", value))[0]
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]


def master_faults(folder, step):
    """Sentences about parameters that are not their master, rounded to the parameter's type."""
    types = {}
    for path in glob.glob(os.path.join(folder, f"step{step}.rank*.json")):
        with open(path) as file:
            types.update({t["name"]: t["type"] for t in json.load(file)["tensors"] if t["kind"] == "Parameter"})
    tensors = load(folder, step)
    return [f"step {step}: parameter {name} is not its master, rounded to {types[name]}"
            for (kind, name), master in tensors.items() if kind == "Master" and
            any(rounded(types[name], a) != b for a, b in zip(master, tensors["Parameter", name]))]


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
            data = numbers(tensor["type"], raw[tensor["offset"]:tensor["offset"] + tensor["bytes"]])
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
