"""Writes documents of 11 random ids below 96, each filled up with id 96 to --width tokens; one more 96 at the end is the last label.

usage: write_documents.py OUT --count N --width W
"""
import argparse
import random

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--count", type=int, required=True)
parser.add_argument("--width", type=int, required=True)
options = parser.parse_args()

source = random.Random(7)
ids = []
for _ in range(options.count):
    ids += [source.randrange(96) for _ in range(11)] + [96] * (options.width - 11)
with open(options.out, "wb") as file:
    file.write(bytes(ids + [96]))
