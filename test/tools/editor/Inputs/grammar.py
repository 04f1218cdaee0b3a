"""Holds the editor's grammar to the dialects: valid JSON, sound patterns, every op known and none that is not.

    grammar.py EDITOR_FOLDER MODEL DIALECT=OP_DOC_PAGE...      pages as mlir-tblgen -gen-op-doc writes them
"""
import json
import os
import re
import sys

folder, model, pages = sys.argv[1], sys.argv[2], dict(page.split("=") for page in sys.argv[3:])
errors = []


def load(name):
    with open(os.path.join(folder, name)) as file:
        return json.load(file)


def patterns(node):
    """Every pattern of a grammar that has a regular expression."""
    if isinstance(node, dict):
        if "match" in node or "begin" in node:
            yield node
        for child in node.values():
            yield from patterns(child)
    elif isinstance(node, list):
        for child in node:
            yield from patterns(child)


def scope(grammar, text, at=0):
    """The name of the first pattern that takes all of the word at a place."""
    for pattern in patterns(grammar):
        found = "match" in pattern and re.compile(pattern["match"]).match(text, at)
        if found and found.end() > at:
            return pattern.get("name", ""), found.group()
    return "", ""


package = load("package.json")
load(package["contributes"]["languages"][0]["configuration"])
grammars = [load(g["path"]) for g in package["contributes"]["grammars"]]
for g, grammar in zip(package["contributes"]["grammars"], grammars):
    if g["scopeName"] != grammar["scopeName"]:
        errors.append(f"package.json says {g['scopeName']}, the grammar {grammar['scopeName']}")
    for pattern in patterns(grammar):
        for key in ("match", "begin", "end"):
            re.compile(pattern.get(key, ""))

for dialect, page in pages.items():
    ops = set(re.findall(rf"^### `{dialect}\.([a-z_0-9]+)`", open(page).read(), re.M))
    if len(ops) < 5:
        errors.append(f"{page} names {len(ops)} ops of {dialect}; is it what mlir-tblgen -gen-op-doc writes?")
    for grammar in grammars:
        known = set()
        for pattern in patterns(grammar):
            if pattern.get("comment", "").startswith(dialect + ": "):
                known |= set(re.search(r"\?:([a-z_0-9|]+)\)\(\?!", pattern["match"]).group(1).split("|"))
        for op in sorted(ops - known):
            errors.append(f"{grammar['scopeName']} does not know {dialect}.{op}; add it to its list in tools/editor/syntaxes")
        for op in sorted(known - ops):
            errors.append(f"{grammar['scopeName']} knows {dialect}.{op}, which is no op")
        for op in sorted(ops & known):
            name, word = scope(grammar, f"{dialect}.{op} ")
            if f".{dialect}." not in name or word != f"{dialect}.{op}":
                errors.append(f"{grammar['scopeName']}: {dialect}.{op} is read as '{word}', {name or 'nothing'}")
            if scope(grammar, f" {op} ", 1)[1] != op:
                errors.append(f"{grammar['scopeName']}: {op} alone is not read as an op")
            for not_op in (f"%{op} ", f".{op} ", f"{op}.x ", f"x{op} "):
                if scope(grammar, not_op, not_op.index(op))[1] == op:
                    errors.append(f"{grammar['scopeName']}: {op} in {not_op}is read as an op")

# In a model every line's op is one.
count = 0
for number, line in enumerate(open(model), 1):
    op = re.match(r"\s*(?:[%\w, ]+=\s*)?((?:nn|dist)\.\w+|[a-z_]+)\b", line)
    if op and not line.lstrip().startswith("//"):
        count += 1
        name, word = scope(grammars[0], line, op.start(1))
        if word != op.group(1) or not re.search(r"\.(nn|dist)\.hocket$", name):
            errors.append(f"{model}:{number}: '{op.group(1)}' is read as '{word}', {name or 'nothing'}")
if count < 20:
    errors.append(f"{model}: only {count} ops")
print("\n".join(errors) or "the grammar knows every op")
sys.exit(1 if errors else 0)
