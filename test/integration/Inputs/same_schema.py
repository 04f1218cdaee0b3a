"""Holds the events of a plan's timeline against those of a run's trace: keys, names of ranks, names of streams."""
import json
import sys


def read(path):
    keys, processes, threads = set(), {}, {}
    for event in json.load(open(path))["traceEvents"]:
        if event["ph"] == "X":
            keys.add((tuple(sorted(event)), tuple(sorted(event["args"]))))
            assert event["dur"] >= 0
        elif event["name"] == "process_name":
            processes[event["pid"]] = event["args"]["name"]
        elif event["name"] == "thread_name":
            threads[event["pid"], event["tid"]] = event["args"]["name"]
    return keys, processes, threads


run, plan = read(sys.argv[1]), read(sys.argv[2])
assert run[0] == plan[0], (run[0], plan[0])
for theirs, ours in zip(run[1:], plan[1:]):
    for key, name in ours.items():
        assert theirs[key] == name, (key, theirs[key], name)
print(f"{len(plan[1])} ranks of the plan are among {len(run[1])} of the run, with equal names and streams; events have equal keys")
