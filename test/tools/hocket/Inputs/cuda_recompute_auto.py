"""Compiles a model for GPUs with `recompute auto` under several limits: cuda_recompute_auto.py MODEL REPORT, where REPORT is that of the plan
without recomputing (--emit=program). What that plan needs is enough, to the byte."""

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
peak = rank["peak_bytes"]
ended, told = compiled(peak)
found = re.search(r"kernels and products of a GPU need (\d+) bytes; (\d+) of (\d+) are left for the plan", ended.stderr)
beside, left, limit = map(int, found.groups())
assert beside + left == limit == peak, (beside, left, limit, peak)
print(f"beside the plan: {beside} bytes, {beside - (32 << 20)} without cublasLt's")
print("all of it:", *told)
ended, told = compiled(peak - 1)
print("a byte less:", *told[:1])
needed = json.loads(ended.stdout)["ranks"][0]["peak_bytes"]
print("which needs no more than was given" if needed < peak else f"which needs {needed} of {peak - 1} bytes")
ended, told = compiled(beside)
print("too little:", *told)
assert ended.returncode == 1, ended.returncode
