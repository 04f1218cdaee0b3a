"""A session as an editor has it: open, ask at once, edit, break, mend, close.

    conversation.py MODEL LARGE_MODEL
"""
import os
import sys

from lsp import Client, place

text = open(sys.argv[1]).read()
uri = "file://" + os.path.abspath(sys.argv[1])
client = Client()
capabilities = client.start()["capabilities"]
for name in ("hover", "definition", "references", "documentSymbol", "completion"):
    assert capabilities[name + "Provider"], name


def hover(what, skip=0):
    answer = client.at("hover", uri, *place(text, what, skip))
    return answer and answer["contents"]["value"]


def words(method, what, skip=0):
    """The texts at the ranges of an answer, with their lines."""
    lines = text.split("\n")
    ranges = [a["range"] for a in client.at(method, uri, *place(text, what, skip))]
    return [(r["start"]["line"] + 1, lines[r["start"]["line"]][r["start"]["character"]:r["end"]["character"]]) for r in ranges]


client.open(uri, text)
assert "192.00 KiB whole; 2 of them, `h.*.attn.qkv.weight`" in hover("attn.qkv.weight")
assert client.diagnostics(uri, 1, 2) == []

print("hover:", hover("attn.qkv.weight").splitlines()[-1])
print("hover:", hover("linear %n1").splitlines()[0])
print("hover:", [line for line in hover("%q, ").splitlines() if "ptd" in line])
print("hover:", [line for line in hover("%x, %g1").splitlines() if "ptd" in line])
print("hover:", [line for line in hover("%sum,").splitlines() if "ptd" in line])
print("hover:", hover("dist.plan @ptd").splitlines()[0])
print("hover:", hover("split \"h.*.mlp.fc", 8).splitlines()[-1])
print("hover:", hover("dist.mesh @cluster").splitlines()[0], hover("nn.model").splitlines()[0])
print("definition:", words("definition", "@gpt on @cluster", 8), words("definition", "split \"h.*.mlp.fc", 10),
      words("definition", "linear %n1", 8), words("definition", "%x, %g1", 1))
print("references:", words("references", "nn.block"), len(words("references", "%x: ", 1)))


def outline(symbols):
    return [s["name"] for s in symbols]


symbols = client.request("textDocument/documentSymbol", textDocument=dict(uri=uri))
print("outline:", outline(symbols), outline(symbols[0]["children"])[:3], outline(symbols[-1]["children"])[:2])


def complete(what, skip):
    return [i["label"] for i in client.at("completion", uri, *place(text, what, skip))["items"]]


found = complete("layer_norm %x", 5)
assert {"layer_norm", "linear", "attention", "param"} <= set(found) and "split" not in found, found
found = complete("split \"h.*.mlp.fc", 2)
assert {"split", "zero", "stages", "batch"} <= set(found) and "linear" not in found, found
print("completion:", complete("split \"h.*.mlp.fc", 8)[:2], complete('dim 1 over "tp', 12), "%n1" in complete("linear %n1", 8))

broken = text.replace('"tp"=2>', '"tp"=8>')
client.change(uri, broken, 2)
print("broken:", [d["message"] for d in client.diagnostics(uri, 2, 2)][0])
client.change(uri, text[: text.index("layer_norm %x") + 11], 3)
print("unfinished:", [d["message"] for d in client.diagnostics(uri, 3, 1)])
assert hover("attn.qkv.weight") is None
unfinished = {}
for version, (cut, more) in enumerate([("layer_norm %x", "layer_norm "), ("split \"h.*.mlp.fc", "split \"h."),
                                       ("split \"h.*.mlp.fc", "sp")], 31):
    part = text[: text.index(cut)] + more
    client.change(uri, part, version)
    unfinished[more] = {i["label"] for i in client.at("completion", uri, part.count("\n"), len(part) - part.rindex("\n") - 1)["items"]}
assert {"%x", "%g1"} <= unfinished["layer_norm "] and "%qkv" not in unfinished["layer_norm "], unfinished
assert {"h.*.mlp.fc.weight", "wte"} <= unfinished["split \"h."] and "%x" not in unfinished["split \"h."], unfinished
assert {"split", "stages"} <= unfinished["sp"] and "linear" not in unfinished["sp"], unfinished
client.change(uri, broken, 4)
client.change(uri, text, 5)  # overtakes
assert client.diagnostics(uri, 5, 2) == [] and len(client.published[uri, 4]) == 1
client.notify("textDocument/didClose", textDocument=dict(uri=uri))
assert hover("attn.qkv.weight") is None
assert client.published[uri, 0] == [[]]  # its squiggles are gone

# A large model: answers do not wait for its plans.
text = open(sys.argv[2]).read()
uri = "untitled:" + os.path.abspath(sys.argv[2])
client.open(uri, text)
early = hover("attn.qkv.weight")
assert "1.69 GiB whole; 96 of them, `h.*.attn.qkv.weight`, 162.00 GiB in all" in early, early
assert len(client.published[uri, 1]) == 1, "the answer came after the plans"
assert client.diagnostics(uri, 1, 2) == []
print("large:", hover("attn.qkv.weight").splitlines()[-1])
print("large:", hover("dist.plan @ptd").splitlines()[4])

try:
    client.request("textDocument/somethingElse")
    assert False
except RuntimeError as error:
    print("unknown:", error)
print("status", client.stop())
