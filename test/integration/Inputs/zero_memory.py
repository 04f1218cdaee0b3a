"""Memory that ZeRO-3 plans, as layers are added: what is gathered per use is released after it.

usage: zero_memory.py MODEL   (small-gpt.mlir: a layer is `repeat @layer(…) 3`)

Per use, the workspace of a model of 9 layers is that of one of 3, but for a few KiB of small gradients that update adds up: one
layer's parameters are whole at a time. Kept or once, what each
further layer adds to memory is the layer's parameters, whole, on top of what it adds per use.
"""
import json
import re
import subprocess
import sys
import tempfile

LAYER = 4 * (132 * 3 * 4 * 33 + 4 * 33 * 132 + 2 * 132 * 263)  # bytes of what ZeRO splits of a layer


def memory(gather, layers):
    text = open(sys.argv[1]).read()
    text = re.sub(r'\) 3 as "h"', f') {layers} as "h"', text)
    text += f'''dist.mesh @memory_mesh<"dp"=2>
dist.plan @memory for @gpt on @memory_mesh {{
  batch over "dp" microbatch 1 sequences
  zero 3 over "dp" gather {gather} bucket 1
}}
'''
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        out = subprocess.run(["hocket", "explain", file.name, "--plan", "memory", "--format=json"], stdout=subprocess.PIPE, check=True)
    rank = json.loads(out.stdout)["ranks"][0]
    return rank["peak_bytes"], rank["bytes_by_class"]


few, few_classes = memory("per_use", 3)
many, many_classes = memory("per_use", 9)
print("workspace per use:", few_classes["workspace"], many_classes["workspace"])
faults = int(many_classes["workspace"] - few_classes["workspace"] > LAYER / 20)
each = (many - few) / 6
for gather in ("kept", "once"):
    more = (memory(gather, 9)[0] - memory(gather, 3)[0]) / 6
    print(f"a layer more, {gather}: {more - each:.0f} bytes beyond per use, of {LAYER} whole")
    faults += not 0.98 * LAYER <= more - each <= 1.02 * LAYER
print("released after each use" if not faults else f"{faults} faults")
