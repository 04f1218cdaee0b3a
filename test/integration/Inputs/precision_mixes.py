"""Runs same_numbers.py for every mix of precision that a recipe may have, under six plans.

usage: precision_mixes.py MODEL --data FILE --data-type TYPE --work DIR
"""
import argparse
import itertools
import os
import subprocess
import sys

PLANS = ["--mesh dp=2 --zero 1", "--mesh tp=2", "--mesh pp=2", "--mesh dp=2,tp=2 --zero 1", "--mesh pp=2,dp=2,tp=2 --zero 1",
         "--mesh pp=2,dp=2,tp=2 --schedule gpipe"]


def mixes():
    yield "params f32 compute f32 accumulate f32"
    for narrow in ("bf16", "f16"):
        for params, accumulate, reduce in itertools.product((narrow, "f32"), repeat=3):
            # a master that is wider than the parameter, and none
            for master in ("f32", narrow) if params == narrow else ("f32",):
                scale = "; loss_scale dynamic(initial = 1024)" if narrow == "f16" else ""
                yield f"params {params} compute {narrow} accumulate {accumulate} reduce {reduce} master {master}{scale}"


parser = argparse.ArgumentParser()
parser.add_argument("model")
parser.add_argument("--data", required=True)
parser.add_argument("--data-type", required=True)
parser.add_argument("--work", required=True)
options = parser.parse_args()
script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "same_numbers.py")
good = count = 0
for count, mix in enumerate(mixes(), 1):
    print(mix, flush=True)
    ended = subprocess.run([sys.executable, script, options.model, "--data", options.data, "--data-type", options.data_type, "--work",
                            os.path.join(options.work, str(count)), "--precision", mix, *PLANS])
    good += ended.returncode == 0
print(f"{good} of {count} mixes: {len(PLANS)} of {len(PLANS)} plans give the numbers of one rank")
sys.exit(good != count)
