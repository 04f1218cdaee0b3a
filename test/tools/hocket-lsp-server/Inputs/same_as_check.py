"""What the server shows of a file is what `hocket check` says: the same faults and notes, at the same places.

    same_as_check.py FILE...
"""
import json
import os
import subprocess
import sys

from lsp import Client


def word(place):
    """file:line:column of the compiler as line and character; no place is the beginning."""
    if not place:
        return 0, 0
    _, line, column = place.rsplit(":", 2)
    return int(line) - 1, int(column) - 1


client = Client()
client.start()
for file in sys.argv[1:]:
    run = subprocess.run(["hocket", "check", file, "--format=json"], capture_output=True, text=True)
    check = [(word(f["place"]), f["text"], [(word(n["place"]), n["text"]) for n in f["notes"]])
             for f in json.loads(run.stdout)["faults"]]
    text, uri = open(file).read(), "file://" + os.path.abspath(file)
    client.open(uri, text)
    client.request("textDocument/documentSymbol", textDocument=dict(uri=uri))
    count = 1 if "does not parse" in text else 2
    start = lambda d: (d["range"]["start"]["line"], d["range"]["start"]["character"])
    shown = [(start(d), d["message"], [((i["location"]["range"]["start"]["line"], i["location"]["range"]["start"]["character"]),
                                        i["message"]) for i in d.get("relatedInformation", [])])
             for d in client.diagnostics(uri, 1, count)]
    for d in client.diagnostics(uri, 1, count):
        assert d["severity"] == 1 and d["source"] == "hocket", d
        begin, end = d["range"]["start"], d["range"]["end"]
        assert begin["line"] == end["line"] and begin["character"] < end["character"], d
    if shown != check:
        print(f"{file}: check says\n{json.dumps(check, indent=1)}\nthe server says\n{json.dumps(shown, indent=1)}")
        sys.exit(1)
    print(f"{os.path.basename(file)}: {len(shown)} faults, {sum(len(s[2]) for s in shown)} notes, as check says")
sys.exit(client.stop())
