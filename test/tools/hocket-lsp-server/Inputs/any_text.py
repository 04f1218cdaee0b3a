"""The server outlives any text: cut and garbled models, brackets without end, endless repeats, no text at all.

    any_text.py MODEL ROUNDS OTHER_FILE...
"""
import os
import random
import sys

from lsp import Client

model = open(sys.argv[1]).read()
random.seed(1)
texts = ["", "\n", "\0", "%", "\"", "nn.", "nn.block @", "}{", "é𝄞\n  é", "(" * 100_000, "[" * 100_000 + "]" * 100_000,
         "tuple<" * 100_000, "{" * 100_000, "\"" + "x" * 100_000, "// " + "(" * 100_000,
         model.replace(" 2 as \"h\"", " 1000000000 as \"h\""), model.replace("repeat @", "repeat @gpt"),
         model.replace("microbatch 2", "microbatch 9223372036854775807"), model.replace("128", "9223372036854775807"),
         model.replace("\"pp\"=2", "\"pp\"=4611686018427387904"), model * 2, "x" * (33 << 20)]
texts += [open(file).read() for file in sys.argv[3:]]
for _ in range(int(sys.argv[2])):
    text = model
    for _ in range(random.choice((0, 1, 3))):
        at, length = random.randrange(len(text)), random.randrange(40)
        text = text[:at] + random.choice(("", "\"", "{", "}", "%x", "@y", "<", "0", text[at:at + 9] * 2)) + text[at + length:]
    texts.append(text[:random.choice((len(text), random.randrange(len(text))))])

client = Client()
client.start()
uri = "file://" + os.path.abspath(sys.argv[1])
client.open(uri, "")
for version, text in enumerate(texts, 2):
    client.change(uri, text, version)
    lines = text[:100_000].split("\n")
    for method in ("hover", "definition", "references", "completion"):
        line = random.randrange(len(lines))
        for character in (0, len(lines[line]) // 2, len(lines[line])):
            client.at(method, uri, line, character)
    client.at("hover", uri, 10**9, 10**9)
    client.request("textDocument/documentSymbol", textDocument=dict(uri=uri))
    if version % 5 == 0 and len(text) < 1 << 20:  # let the plans be worked out as well
        while not client.published[uri, version][-1] and len(client.published[uri, version]) < 2:
            client._next()
print(f"{len(texts)} texts, status {client.stop()}")
