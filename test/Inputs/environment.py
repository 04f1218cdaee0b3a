# Holds the table of tools/README.md to the variables of the environment that sources and scripts read: every HOCKET_… in
# quotes or behind a $, and others where they are asked for by name. Not those of the tests themselves (HOCKET_TEST_…).
#   environment.py SOURCE_DIR
import pathlib, re, sys

root = pathlib.Path(sys.argv[1])
table = re.search(r"^## Environment\n(.*?)^## ", (root / "tools/README.md").read_text(), re.S | re.M).group(1)
told = set(re.findall(r"`(HOCKET_\w+|\w+_agent)\b", table))
named = re.compile(r'"(HOCKET_[A-Z_]+)"|\$\{?(HOCKET_[A-Z_]+)|(?:getenv|GetEnv)\("(\w+)"')
read = {}
for path in [root / "test/lit.cfg.py"] + sorted(p for layer in ("dialect", "passes", "runtime", "tools") for p in (root / layer).rglob("*")):
    if path.is_file() and path.suffix in ("", ".cpp", ".h", ".py"):
        for found in named.finditer(path.read_text()):
            name = found.group(1) or found.group(2) or found.group(3)
            if name != "PATH" and not name.startswith("HOCKET_TEST_"):
                read.setdefault(name, path.relative_to(root))
faults = [f"{read[name]} reads {name}, of which tools/README.md does not tell" for name in sorted(read.keys() - told)]
faults += [f"tools/README.md tells of {name}, which nothing reads" for name in sorted(told - read.keys())]
print("\n".join(faults + [f"{len(read)} variables, {len(faults)} faults"]))
sys.exit(bool(faults))
