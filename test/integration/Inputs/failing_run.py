"""Starts a training run, waits for its first step, hurts one of its processes, and reports how the run ended.

usage: failing_run.py kill|stop|kill-launcher|watch COORDINATES --within SECONDS -- hocket-run … --metrics FILE …

kill, stop: SIGKILL or SIGSTOP for the rank of those coordinates ("pp=1 dp=0 tp=1"); kill-launcher: SIGKILL for hocket-run;
watch: nothing, the run ends by itself (HOCKET_STALL).
The run's output passes through. Then: `ended with exit status N`, and a `fault:` line for each rank process and each new file of
/dev/shm that is left, and if the end took longer than SECONDS.
"""
import os
import signal
import subprocess
import sys
import time

how, coordinates, option, within, dashes, *command = sys.argv[1:]
assert (option, dashes) == ("--within", "--")
program = os.path.realpath(next(word for word in command[1:] if os.path.basename(word) == "program"))
metrics = command[command.index("--metrics") + 1]


def ranks():
    """{process: command line} of the ranks of this run's executable, zombies aside."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().decode(errors="replace").split("\0")
        except OSError:
            continue
        if int(name) not in (launcher.pid, os.getpid()) and any(os.path.realpath(word) == program for word in words if os.sep in word):
            found[int(name)] = " ".join(words)
    return found


def await_that(what, condition, seconds=240):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until or launcher.poll() is not None and what != "ranks gone":
            launcher.kill()
            raise SystemExit(f"fault: {what} did not come")
        time.sleep(0.02)


before = set(os.listdir("/dev/shm"))
if os.path.exists(metrics):
    os.remove(metrics)
launcher = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
await_that("first step", lambda: os.path.exists(metrics) and os.path.getsize(metrics) > 0)
if how == "kill-launcher":
    launcher.kill()
elif how != "watch":
    victims = [process for process, line in ranks().items() if coordinates in line]
    if len(victims) != 1:
        launcher.kill()
        raise SystemExit(f"fault: {len(victims)} processes name '{coordinates}': {ranks()}")
    os.kill(victims[0], signal.SIGKILL if how == "kill" else signal.SIGSTOP)
began = time.monotonic()
output, _ = launcher.communicate()
if how == "kill-launcher":
    await_that("ranks gone", lambda: not ranks(), float(within))
took = time.monotonic() - began
print(output)
print(f"ended with exit status {launcher.returncode}")
for process, line in ranks().items():
    print(f"fault: process {process} is left: {line}")
for name in set(os.listdir("/dev/shm")) - before:
    print(f"fault: /dev/shm/{name} is left")
if took > float(within):
    print(f"fault: the end took {took:.1f} s")
