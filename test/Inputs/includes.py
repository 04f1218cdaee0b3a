# Checks every `#include "…"` of the tree against the allowed arrows between layers; prints each that is not allowed.
import pathlib, re, sys

root = pathlib.Path(sys.argv[1])
sees = {"dialect": {"dialect"}, "passes": {"passes", "dialect"}, "runtime": {"runtime"},
        "tools": {"tools", "passes", "dialect", "runtime"}, "examples": {"dialect"}}
# passes/Schedule is plain C++: of the dialects it sees the plain row of a table only.
exceptions = {("passes/StepToProgram", "runtime/Program"), ("passes/Interpreter", "runtime/Program/Random.h")}
# Within the dialects: a later layer knows the earlier ones.
below = {"NN": {"NN"}, "Dist": {"NN", "Dist"}, "Step": {"NN", "Dist", "Step"}, "Builder": {"NN", "Dist", "Step", "Builder"}}
layers = {"dialect", "passes", "runtime", "tools"}
faults, lines = [], 0
for path in sorted(p for layer in sees for p in (root / layer).rglob("*") if p.suffix in (".h", ".cpp", ".cu")):
    name = path.relative_to(root).as_posix()
    layer = name.split("/")[0]
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
        if not match:
            continue
        target = match.group(1)
        lines += 1
        parts = target.split("/")
        # The emulator is a library of its own that links LLVM (but no MLIR), opened only when asked for.
        emulator = name.startswith("runtime/Device/Emulator/") and parts[0] == "llvm"
        if layer == "runtime" and parts[0] in ("mlir", "llvm") and not emulator:
            faults.append(f"{name}:{number}: the runtime includes {target}; it links no MLIR or LLVM")
        if parts[0] not in layers:
            continue
        allowed = parts[0] in sees[layer] or any(name.startswith(a) and target.startswith(b) for a, b in exceptions)
        if layer == parts[0] == "dialect" and parts[1] not in below.get(name.split("/")[1], below["Builder"]):
            allowed = False
        if name.startswith("passes/Schedule/") and parts[0] == "dialect" and target != "dialect/Step/Row.h":
            allowed = False
        if not allowed:
            faults.append(f"{name}:{number}: {layer} may not include {target}")
print("\n".join(faults) or f"{lines} include lines keep to the arrows")
sys.exit(bool(faults) or lines == 0)
