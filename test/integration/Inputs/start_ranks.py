"""Starts ranks as torchrun does, on this machine: start_ranks.py N [--without R] [--twice R] [--set R:NAME=VALUE]
[--unset NAME] [--kill R] [--slurm] -- PROGRAM ARGUMENT...

Prints what each rank wrote and how it ended, rank by rank; --kill R: once rank 0 has written that step 1 is done. The
exit status is 0 where all ended with the same status."""

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

ARGUMENTS = sys.argv[1:]
SPLIT = ARGUMENTS.index("--")
parser = argparse.ArgumentParser()
parser.add_argument("ranks", type=int)
parser.add_argument("--without", type=int, action="append", default=[])
parser.add_argument("--twice", type=int, action="append", default=[])
parser.add_argument("--set", action="append", default=[], dest="settings")
parser.add_argument("--unset", action="append", default=[])
parser.add_argument("--kill", type=int)
parser.add_argument("--slurm", action="store_true")
options = parser.parse_args(ARGUMENTS[:SPLIT])
command = ARGUMENTS[SPLIT + 1 :]


def free_port():
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1]


def environment(rank, port):
    names = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": options.ranks, "MASTER_ADDR": "localhost",
             "MASTER_PORT": port}
    if options.slurm:
        names = {"SLURM_PROCID": rank, "SLURM_LOCALID": rank, "SLURM_NTASKS": options.ranks, "SLURM_JOB_ID": 7,
                 "SLURM_STEP_ID": 0, "SLURM_STEP_NODELIST": "localhost,node[01-02]", "HOCKET_PORT": port}
    for setting in options.settings:
        who, assignment = setting.split(":", 1)
        name, value = assignment.split("=", 1)
        if who in ("all", str(rank)):
            names[name] = value
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "OMPI_", "PMI"))}
    made = {**kept, **{name: str(value) for name, value in names.items()}}
    for name in options.unset:
        made.pop(name, None)
    return made


port = free_port()
started = []
for rank in range(options.ranks):
    if rank in options.without:
        continue
    for _ in range(2 if rank in options.twice else 1):
        out = tempfile.TemporaryFile(mode="w+")
        started.append((rank, out, subprocess.Popen(command, env=environment(rank, port), stdout=out, stderr=out)))

if options.kill is not None:
    _, first_out, first = started[0]
    while first.poll() is None and os.pread(first_out.fileno(), 1 << 16, 0).count(b"step 1") == 0:
        time.sleep(0.01)
    for rank, _, process in started:
        if rank == options.kill:
            process.send_signal(signal.SIGKILL)

statuses = set()
for rank, out, process in started:
    status = process.wait()
    if rank != options.kill:
        statuses.add(status)
    out.seek(0)
    for line in out:
        print(f"rank {rank}: {line}", end="")
    print(f"rank {rank} ended with {status}")
sys.exit(0 if len(statuses) == 1 else 1)
