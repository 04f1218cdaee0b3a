"""Kills a run that saves every 5 steps at random moments, starts it again each time, and demands the uninterrupted run's numbers.

usage: kill_any_moment.py --moments N --seed S --work DIR -- hocket-run … --steps N --metrics FILE --save DIR --resume DIR --save-every 5

One moment: SIGKILL for one rank, for all ranks at once, or for the launcher (in turn), a random part of the time that an uninterrupted
run takes after its start. Then every step-N in the folder must be whole, contents included, before the next start; a run that was ended
by the loss of a rank must say so with exit status 3. When a run comes to its end, metrics and the checkpoint of the last step must be
those of the uninterrupted run, and a new run begins.
"""
import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import time

from runs import MEASURED

parser = argparse.ArgumentParser()
parser.add_argument("--moments", type=int, required=True)
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--work", required=True)
parser.add_argument("command", nargs=argparse.REMAINDER)
options = parser.parse_args()
command = options.command[1:]


def value(option):
    return command[command.index(option) + 1]


program = os.path.realpath(next(word for word in command[1:] if os.path.basename(word) == "program"))
saves, metrics, last = value("--save"), value("--metrics"), f"step-{value('--steps')}"
random.seed(options.seed)


def ranks():
    """Processes of the run's ranks."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.path.realpath(f"/proc/{name}/exe") == program:
                found.append(int(name))
        except OSError:
            pass
    return found


def lines(path):
    with open(path) as file:
        return [{key: held for key, held in json.loads(line).items() if key not in MEASURED} for line in file]


def fresh():
    shutil.rmtree(saves, ignore_errors=True)
    if os.path.exists(metrics):
        os.remove(metrics)


def start():
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def check_folder():
    names = [name for name in os.listdir(saves) if not name.endswith(".tmp")] if os.path.isdir(saves) else []
    if not names:
        return "none"
    shown = subprocess.run(["hocket", "ckpt", "show", "--verify", "--format=json", saves], stdout=subprocess.PIPE, text=True)
    found = json.loads(shown.stdout)["checkpoints"]
    if shown.returncode or len(found) != len(names) or not all(one["whole"] for one in found):
        raise SystemExit(f"fault: of {names} not all are whole: {[one['faults'] for one in found]}")
    return ", ".join(str(one["step"]) for one in found)


def compare():
    if lines(metrics) != reference:
        raise SystemExit("fault: the metrics are not those of the uninterrupted run")
    for name in sorted(os.listdir(os.path.join(options.work, last))):
        with open(os.path.join(options.work, last, name), "rb") as mine, open(os.path.join(saves, last, name), "rb") as theirs:
            if mine.read() != theirs.read():
                raise SystemExit(f"fault: {last}/{name} is not that of the uninterrupted run")


fresh()
began = time.monotonic()
run = start()
output, _ = run.communicate()
took = time.monotonic() - began
if run.returncode:
    raise SystemExit(f"fault: the uninterrupted run ended with {run.returncode}:\n{output}")
reference = lines(metrics)
shutil.copytree(os.path.join(saves, last), os.path.join(options.work, last))
fresh()

runs = starts = 0
for moment in range(options.moments):
    how = ("one rank", "all ranks", "the launcher")[moment % 3]
    run = start()
    starts += 1
    time.sleep(random.uniform(0.05, 0.9) * took)
    victims = [run.pid] if how == "the launcher" else ranks()
    if how == "one rank" and victims:
        victims = [random.choice(victims)]
    ended = run.poll() is not None
    for victim in victims if not ended else []:
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            pass
    output, _ = run.communicate()
    until = time.monotonic() + 20
    while ranks() and time.monotonic() < until:
        time.sleep(0.01)
    if ranks():
        raise SystemExit(f"fault: processes {ranks()} are left")
    expected = {0, 3} if how != "the launcher" else {0, -signal.SIGKILL}
    if run.returncode not in expected:
        raise SystemExit(f"fault: {how} killed, the run ended with {run.returncode}:\n{output}")
    whole = check_folder()
    print(f"moment {moment}: {how} killed, whole checkpoints: {whole}", flush=True)
    if run.returncode == 0:
        compare()
        runs += 1
        fresh()
# The last one is left to come to its end.
run = start()
output, _ = run.communicate()
if run.returncode:
    raise SystemExit(f"fault: the last run ended with {run.returncode}:\n{output}")
compare()
print(f"{starts} kills, {runs + 1} runs came to the numbers of the uninterrupted one")
