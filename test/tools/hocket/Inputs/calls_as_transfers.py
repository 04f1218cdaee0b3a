"""The calls of a training step that `explain --calls` lists are those that `explain` counts as transfers.

calls_as_transfers.py TRANSFERS.json CALLS.json: by stage, kind and bytes of what is moved, the same number.
"""
import collections
import itertools
import json
import sys

transfers, calls = (json.load(open(path)) for path in sys.argv[1:])
counted, listed = collections.Counter(), collections.Counter()
for each in transfers["transfers"]:
    if each["op"] not in ("offload", "fetch"):
        counted[each["stage"], each["op"], each["bytes"]] += each["count"]
members = {}
for rank in calls["ranks"]:
    members = {each["name"]: len(each["ranks"]) for each in rank["communicators"]}
    for _, group in itertools.groupby(rank["calls"]["train"], key=lambda call: (call["row"], call["instruction"])):
        group = list(group)
        first, ranks = group[0], members[group[0]["communicator"]]
        # what is moved as a whole: n times what a rank gives or takes
        whole = first["bytes"] * (ranks if first["op"] in ("reduce_scatter", "all_gather", "all_to_all") else 1)
        assert len(group) == {"all_to_all": 2 * ranks, "shift": 2}.get(first["op"], 1), group
        listed[rank["stage"], first["op"], whole] += 1
for key in sorted(set(counted) | set(listed)):
    if counted[key] != listed[key]:
        print("stage {}, {} of {} bytes: {} transfers, {} calls".format(*key, counted[key], listed[key]))
print(f"{sum(listed.values())} calls, {sum(counted.values())} transfers")
