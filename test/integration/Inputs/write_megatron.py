"""Writes PREFIX.bin and PREFIX.idx as Megatron-LM's preprocessing does, of the ids of a flat file of u16.

usage: write_megatron.py PREFIX --ids FILE --type u8|i8|i16|i32|i64|u16 [--documents LENGTH,LENGTH,…] [--set INDEX=ID]…

The lengths are repeated until the ids are used up; a length of 0 is a document without a sequence.
"""
import argparse
import array
import struct

CODES = {"u8": (1, "B"), "i8": (2, "b"), "i16": (3, "h"), "i32": (4, "i"), "i64": (5, "q"), "u16": (8, "H")}

parser = argparse.ArgumentParser()
parser.add_argument("prefix")
parser.add_argument("--ids", required=True)
parser.add_argument("--type", choices=CODES, required=True)
parser.add_argument("--documents", default="1000000000")
parser.add_argument("--set", action="append", default=[])
options = parser.parse_args()

code, letter = CODES[options.type]
ids = array.array("H")
with open(options.ids, "rb") as file:
    ids.frombytes(file.read())
ids = list(ids)
for change in options.set:
    index, value = map(int, change.split("="))
    ids[index] = value
lengths, documents, wanted, left = [], [0], list(map(int, options.documents.split(","))), len(ids)
while left:
    for length in wanted:
        length = min(length, left)
        if length:
            lengths.append(length)
        documents.append(len(lengths))
        left -= length
itemsize = array.array(letter).itemsize
with open(options.prefix + ".bin", "wb") as file:
    array.array(letter, ids).tofile(file)
with open(options.prefix + ".idx", "wb") as file:
    file.write(b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, code, len(lengths), len(documents)))
    array.array("i", lengths).tofile(file)
    array.array("q", [sum(lengths[:i]) * itemsize for i in range(len(lengths))]).tofile(file)
    array.array("q", documents).tofile(file)
