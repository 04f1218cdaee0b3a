"""Checks three metrics files: RECIPE (seed 77), SAME (--seed 77: equal but for seconds), OTHER (--seed 78: not equal)."""
import argparse
import json
import math
import struct

parser = argparse.ArgumentParser()
parser.add_argument("files", nargs=3)
parser.add_argument("--tokens", type=int, required=True)
parser.add_argument("--lr", required=True)
parser.add_argument("--parameters", type=int, required=True)
options = parser.parse_args()

repeated = ["step", "loss", "grad_norm", "lr", "tokens"]
measured = ["seconds", "tokens_per_second", "flops_per_second", "sent_bytes", "sent_bytes_max", "wait_seconds", "memory_bytes", "memory_bytes_max"]
keys = repeated + measured
single = lambda number: struct.unpack("f", struct.pack("f", number))[0]
read = lambda path: [json.loads(line) for line in open(path)]
recipe, same, other = map(read, options.files)
for lines in (recipe, same, other):
    assert [list(line) for line in lines] == [keys] * 3, lines
    assert [line["step"] for line in lines] == [1, 2, 3], lines
    assert all(line["tokens"] == options.tokens and line["seconds"] > 0 and line["grad_norm"] > 0 for line in lines), lines
    assert abs(lines[0]["loss"] - math.log(97)) < 0.5, lines[0]
    for line in lines:
        assert all(single(line[key]) == line[key] for key in ("loss", "grad_norm", "lr")), f"not the f32 of the program: {line}"
        assert math.isclose(line["tokens_per_second"], options.tokens / line["seconds"]), line
        # On two ranks each waits for a part of the step, and holds about half of what both hold.
        assert 0 < line["wait_seconds"] < 2 * line["seconds"] + 0.1 and 0 < line["memory_bytes_max"] < line["memory_bytes"] <= 2 * line["memory_bytes_max"], line
        # Gradients of all parameters go once around a ring of two: 2 (n-1)/n of 4 bytes each, on both ranks.
        assert line["sent_bytes"] == 2 * line["sent_bytes_max"] and 4 * options.parameters <= line["sent_bytes_max"] < 4.1 * options.parameters, line
        # 6 multiplications and additions for each parameter and token, less those of embeddings, more those of attention.
        assert 0.5 < line["flops_per_second"] * line["seconds"] / (6 * options.parameters * options.tokens) < 1.5, line
for line, rate in zip(recipe, map(float, options.lr.split(","))):
    assert math.isclose(line["lr"], rate, rel_tol=1e-6), line
untimed = lambda lines: [{key: line[key] for key in repeated} for line in lines]
assert untimed(recipe) == untimed(same), (recipe, same)
assert recipe[0]["loss"] != other[0]["loss"], (recipe, other)
