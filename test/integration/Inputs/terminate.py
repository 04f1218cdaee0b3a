"""Starts a training run, sends SIGTERM once it has done some steps, starts it again for five more, and runs all of it once without.

usage: terminate.py -- hocket-run … --metrics FILE --save DIR …   (without --steps)

The uninterrupted run writes FILE.whole and saves nothing.
"""
import os
import signal
import subprocess
import time

import sys

command = sys.argv[2:]
metrics, save = command[command.index("--metrics") + 1], command[command.index("--save") + 1]


def steps():
    if not os.path.exists(metrics):
        return 0
    with open(metrics) as file:
        return file.read().count("\n")


run = subprocess.Popen(command + ["--steps", "1000000"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
until = time.monotonic() + 120
while steps() < 3 and run.poll() is None and time.monotonic() < until:
    time.sleep(0.01)
run.send_signal(signal.SIGTERM)
print(run.communicate()[0])
print(f"ended with exit status {run.returncode}", flush=True)
last = steps() + 5
subprocess.run(command + ["--steps", str(last)], check=True)
whole = [word if word != metrics else metrics + ".whole" for word in command]
for option in ("--save", "--resume"):
    at = whole.index(option)
    del whole[at:at + 2]
subprocess.run(whole + ["--steps", str(last)], check=True)
