"""Compares the flags in README, of commands and of plans, with --help of each command: flags_in_readme.py README."""

import re
import subprocess
import sys

text = open(sys.argv[1], encoding="utf-8").read()
tactics = text[text.index("## Every way to split"):]
tactics = tactics[:tactics.index("\n## ")]
part = text[text.index("## Command line"):text.index("## Folders")]
part += "\n".join(line for line in tactics.splitlines() if line.startswith("|"))  # their flags stand beside them
written = set(re.findall(r"--[a-z][a-z-]*", part))

COMMANDS = ["hocket compile", "hocket check", "hocket explain", "hocket diff", "hocket interpret", "hocket ckpt show",
            "hocket ckpt reshard", "hocket ckpt export", "hocket-run"]
listed = {}
for command in COMMANDS:
    shown = subprocess.run([*command.split(" "), "--help"], capture_output=True, text=True).stdout
    for names in re.findall(r"^  (-\S+)", shown, re.M):
        for name in re.findall(r"--[a-z-]+", names):
            listed.setdefault(name, command)

faults = 0
for flag in sorted(set(listed) - written - {"--help"}):
    faults += 1
    print(f"fault: README lacks {flag} of {listed[flag]}")
for flag in sorted(written - set(listed) - {"--help"}):
    faults += 1
    print(f"fault: README has {flag}, which no command lists")
print(f"{len(listed)} flags, {faults} faults")
