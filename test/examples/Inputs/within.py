"""Runs a command and fails if it takes more processor time or memory than allowed.

    within.py SECONDS MEBIBYTES COMMAND...

Processor time, not the clock's: what else the machine does then does not matter.
"""
import resource
import subprocess
import sys

seconds, mebibytes = float(sys.argv[1]), int(sys.argv[2])
status = subprocess.run(sys.argv[3:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
taken, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
if status:
    sys.exit(status)
if taken > seconds or peak > mebibytes:
    sys.exit(f"{' '.join(sys.argv[3:])}: {taken:.1f} s of {seconds:.0f}, {peak:.0f} MiB of {mebibytes}")
