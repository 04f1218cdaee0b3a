"""Of a trace: how many events of a stream of bodies there are, and how many ran while a kernel of the same rank computed."""

import json
import sys

path, stream = sys.argv[1:3]
events = [e for e in json.load(open(path))["traceEvents"]]
threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
spans = [e for e in events if e["ph"] == "X"]
of = lambda e: threads.get((e["pid"], e["tid"]), "?")
kernels = [e for e in spans if of(e) == "compute" and not e["name"].startswith("await")]
beside = [e for e in spans if of(e) == stream]
reductions = [e for e in beside if e["name"].startswith(("all_reduce", "reduce_scatter"))]


def end(event):
    return event["ts"] + event["dur"]


overlapped = [
    r for r in reductions if any(k["pid"] == r["pid"] and k["ts"] < end(r) and r["ts"] < end(k) for k in kernels)
]
print(f"reductions on stream {stream}: {len(reductions)}, {len(overlapped)} while kernels of their rank ran")
