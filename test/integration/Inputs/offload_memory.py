"""Explains a model without and with each kind of offload, and holds the figures against each other.

usage: offload_memory.py MODEL -- FLAGS…

Bytes that leave a class of the device's memory are those that the host has; what goes to the host in a step comes back as often as
the cause says; only workspace may grow.
"""
import json
import subprocess
import sys

model, flags = sys.argv[1], sys.argv[sys.argv.index("--") + 1:]


def explain(*more):
    text = subprocess.run(["hocket", "explain", model, *flags, *more, "--format=json"], check=True, capture_output=True, text=True).stdout
    return json.loads(text)


def moved(report, op):
    return sum(t["bytes"] * t["count"] for t in report["transfers"] if t["op"] == op)


plain = explain()
for what, name in (("optimizer_state", "optimizer_state"), ("parameters", "parameter"), ("activations", "activation")):
    report = explain("--offload", what)
    for before, after in zip(plain["ranks"], report["ranks"], strict=True):
        mine, theirs = after["bytes_by_class"], before["bytes_by_class"]
        host = after["host_bytes"]
        assert after["host_bytes_by_class"] == {name: host} and host > 0, after
        assert before["host_bytes"] == 0
        left = theirs.get(name, 0) - mine.get(name, 0)
        saved, grown = before["peak_bytes"] - after["peak_bytes"], mine["workspace"] - theirs["workspace"]
        print(f"{what}: host {host}, device less {saved}: {name} less {left}, workspace more {grown}")
        if name != "activation":  # of a slot bytes are shared, on both sides, so classes need not agree there
            alignment = 64 * 2 * len(before["state"])  # which the device counts as workspace
            assert 0 <= host - left < alignment, (left, host)
        assert saved == left - grown and saved > 0, (saved, left, grown)
    out, back = moved(report, "offload"), moved(report, "fetch")
    causes = {t["cause"] for t in report["transfers"] if t["axes"] == "host"}
    assert causes == {f"offload {what}"}, causes
    print(f"{what}: {out} bytes go to the host in a step, {back} come back")
    assert out > 0 and back >= out
