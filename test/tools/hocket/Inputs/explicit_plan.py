"""Writes MODEL with the body of plan NAME replaced by the tactics that explain's JSON lists, to OUT."""
import json
import re
import sys

model, name, facts, out = sys.argv[1:]
text = open(model).read()
tactics = json.load(open(facts))["tactics"]
assert not any(" auto " in tactic or " megatron " in tactic for tactic in tactics), tactics
body = "".join("  " + tactic + "\n" for tactic in tactics)
changed, count = re.subn(r"(dist\.plan @" + name + r" for [^{]*\{\n).*?(\n\})", lambda m: m[1] + body + m[2].lstrip("\n"),
                         text, flags=re.S)
assert count == 1, count
open(out, "w").write(changed)
