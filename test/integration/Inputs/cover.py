"""A pairwise cover of what must change no bit: schedule, recompute, offload, overlap. Prints one plan a line, as flags.

usage: cover.py [--full]

Every pair of choices of two of them is in at least one line (checked here); with --full every combination of all four, and
every schedule.
"""
import itertools
import sys

NAMED = {"1f1b": "", "gpipe": "", "interleaved-1f1b": "--chunks 2", "zb-h1": "", "zb-v": "--chunks 2", "dualpipe-v": "--chunks 2"}
MORE = {"zb-h2": "", "zb-1p": "", "zb-2p": "", "v-half": "--chunks 2", "v-min": "--chunks 2"}
RECOMPUTE = ["", "--recompute selective", "--recompute full", "--recompute full:layers.1 --recompute selective:layers.2"]
OFFLOAD = ["", "--offload activations", "--offload optimizer_state", "--offload parameters"]
OVERLAP = ["", "--overlap gradients", "--overlap parameters,activations", "--overlap all"]


def pairs(choice):
    return {(i, a, j, b) for (i, a), (j, b) in itertools.combinations(enumerate(choice), 2)}


def pairwise(product):
    """Greedy: each line the combination with most pairs that are still missing."""
    missing = set().union(*map(pairs, product))
    lines = []
    while missing:
        best = max(product, key=lambda choice: len(pairs(choice) & missing))
        missing -= pairs(best)
        lines.append(best)
    return lines


full = "--full" in sys.argv
schedules = [f"--schedule {name} {chunks}".strip() for name, chunks in {**NAMED, **(MORE if full else {})}.items()]
product = list(itertools.product(schedules, RECOMPUTE, OFFLOAD, OVERLAP))
lines = product if full else pairwise(product)
assert set().union(*map(pairs, product)) == set().union(*map(pairs, lines))
for line in lines:
    print(" ".join(filter(None, line)))
