"""Writes a file of token ids below --vocab whose next id depends on the last two, so that there is something to learn.

usage: write_tokens.py OUT --vocab V --count N [--type u8|u16|u32] [--set INDEX=ID]…
"""
import argparse
import array
import random

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--vocab", type=int, required=True)
parser.add_argument("--count", type=int, required=True)
parser.add_argument("--type", choices=["u8", "u16", "u32"], default="u8")
parser.add_argument("--set", action="append", default=[])
options = parser.parse_args()

source = random.Random(2024)
ids = [1, 2]
while len(ids) < options.count:
    followed = (3 * ids[-1] + 5 * ids[-2] + 1) % options.vocab
    ids.append(followed if source.random() < 0.7 else source.randrange(options.vocab))
ids = ids[:options.count]
for change in options.set:
    index, value = map(int, change.split("="))
    ids[index] = value
with open(options.out, "wb") as file:
    array.array({"u8": "B", "u16": "H", "u32": "I"}[options.type], ids).tofile(file)
