"""A pack for tools/gpu-check whose programs do nothing but write down how they are called, and say what a test wants.

fake_pack.py FILE.tar.xz LOG [good|bad]: bad: a kernel differs, the communicators never come back, losses differ.
"""
import io
import json
import sys
import tarfile

path, log, mode = sys.argv[1:]
bad = mode == "bad"
loss = lambda step, off=0.0: {"step": step, "loss": 10 - 0.5 * step + off, "seconds": 0.1, "tokens": 4096, "flops_per_second": 2e13}
runs = [{"name": "product bf16 8 x 8 x 8", "times": 3}, {"name": "k_attention_1", "times": 2}]
kernels = {"gpu": "H100", "kernels": [{"name": "k_attention_1", "flops": 4e9, "floor_us": 10.0}],
           "products": [{"name": "bf16 8 x 8 x 8", "flops": 2e9, "floor_us": 2.0}], "stages": [{"runs": runs}]}
events = [{"ph": "X", "name": name, "dur": micros, "args": {"step": step}}
          for step in (1, 2) for name, micros in 3 * [("gemm h.0.attn.qkv", 4.0)] + 2 * [("k_attention_1 h.0.attn", 20.0)]]
metrics = "".join(json.dumps(loss(step, 0.5 if bad and step == 2 else 0.001)) + "\n" for step in range(1, 13))

RECORD = f"""#!/bin/sh
program=${{0##*/}}
words=
for word in "$@"; do case $word in */*) word=${{word##*/}} ;; esac; words="$words $word"; done
echo "$program$words [device $HOCKET_TEST_DEVICE]" >>{log}
"""
GTEST = RECORD + """cat <<'END'
[ RUN      ] A.First
[       OK ] A.First (1 ms)
[ RUN      ] A.Second
x.cpp:1: Skipped
2 ranks need 2 GPUs; this machine has 1
[  SKIPPED ] A.Second (0 ms)
END
"""
files = {
    "bin/hocket-run": RECORD + f"""metrics= trace=
while [ $# -gt 0 ]; do case $1 in --metrics) metrics=$2 ;; --trace) trace=$2 ;; esac; shift; done
cat >"$metrics" <<'END'
{metrics}END
[ -z "$trace" ] || cat >"$trace" <<'END'
{json.dumps({"traceEvents": events})}
END
""",
    "bin/test/CudaTests": GTEST,
    "bin/test/CommConformanceTests": RECORD + "sleep 1000 & wait\n" if bad else GTEST,
    "bin/test/replay-kernels": RECORD + """case $1 in
*/kernels) echo "FAILED Row.Softmax softmax (7-3.case): buffer 1 (f32) differs by 2.0e-01"
           echo "11 of 12 kernel runs are as recorded; they differ by at most f32 2.0e-01"; exit 1 ;;
*) echo "12 of 12 kernel runs are as recorded; they differ by at most bf16 1.0e-03" ;;
esac
""" if bad else RECORD + 'echo "12 of 12 kernel runs are as recorded; they differ by at most bf16 1.0e-03"\n',
    "made/cpu.jsonl": "".join(json.dumps(loss(step)) + "\n" for step in (1, 2, 3)),
    "made/kernels-H100.json": json.dumps(kernels),
    "lib/nothing": "",
}
with tarfile.open(path, "w:xz", preset=0) as archive:
    for name, text in files.items():
        member = tarfile.TarInfo(name)
        member.size, member.mode = len(text.encode()), 0o755
        archive.addfile(member, io.BytesIO(text.encode()))
