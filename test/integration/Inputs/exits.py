"""Runs a command and demands its exit status: exits.py STATUS COMMAND… (stdout and stderr pass through)."""
import subprocess
import sys

status = subprocess.run(sys.argv[2:]).returncode
if status != int(sys.argv[1]):
    print(f"exits.py: exit status {status}, expected {sys.argv[1]}: {' '.join(sys.argv[2:])}", flush=True)
    sys.exit(1)
