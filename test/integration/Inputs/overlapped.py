"""Of a trace: how many events of a stream of bodies there are, and how many ran while a kernel of the same rank computed.

usage: overlapped.py TRACE STREAM [transfer]   what is counted: reductions, or transfers
"""

import json
import sys

path, stream = sys.argv[1:3]
transfers = sys.argv[3:] == ["transfer"]
events = [e for e in json.load(open(path))["traceEvents"]]
threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
spans = [e for e in events if e["ph"] == "X"]
of = lambda e: threads.get((e["pid"], e["tid"]), "?")
kernels = [e for e in spans if of(e) == "compute" and not e["name"].startswith("await")]
beside = [e for e in spans if of(e) == stream]
counted = [e for e in beside if e["name"].startswith("transfer" if transfers else ("all_reduce", "reduce_scatter"))]


def end(event):
    return event["ts"] + event["dur"]


overlapped = [
    r for r in counted if any(k["pid"] == r["pid"] and k["ts"] < end(r) and r["ts"] < end(k) for k in kernels)
]
what = "transfers" if transfers else "reductions"
print(f"{what} on stream {stream}: {len(counted)}, {len(overlapped)} while kernels of their rank ran")
