"""Compiles a model for GPUs with `recompute auto` under three limits: cuda_recompute_auto.py MODEL REPORT, where REPORT is that of the plan
without recomputing (--emit=program)."""

import json
import re
import subprocess
import sys

model, report = sys.argv[1:]


def compiled(limit):
    ended = subprocess.run(["hocket", "compile", model, "--mesh", "dp=1", "--target=cuda", "--recompute", "auto", "--memory", str(limit),
                            "--emit=program"], capture_output=True, text=True)
    return ended, [line for line in ended.stderr.splitlines() if re.match("recompute auto|error", line)]


with open(report) as file:
    rank = json.load(file)["ranks"][0]
peak, classes = rank["peak_bytes"], rank["bytes_by_class"]
beside = classes["workspace"] + classes.get("scratch", 0)
ended, told = compiled(peak)
left = int(re.search(r"kernels and products of a GPU need (\d+) bytes; (\d+) of (\d+) are left for the plan", ended.stderr).group(1))
print(f"beside the plan: {left} bytes, of which workspace {classes['workspace']}")
assert abs(left - beside) < 4096, (left, beside)
print("all of it:", *told)
limit = peak - classes["activation"] // 3
ended, told = compiled(limit)
print("less:", *told[:1])
needed = json.loads(ended.stdout)["ranks"][0]["peak_bytes"]
print("which needs no more than was given" if needed <= limit else f"which needs {needed} of {limit} bytes")
ended, told = compiled(left // 2)
print("too little:", *told)
assert ended.returncode == 1, ended.returncode
