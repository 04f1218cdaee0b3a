"""How kernels touch global memory, from their PTX.

wide_accesses.py KERNELS PTX [NAME=REASON ...]: KERNELS is what `hocket compile --emit=kernels` prints, PTX the same after
`hocket-opt --codegen-cuda=ptx=...`. Follows each address back to the kernel's parameters. Every load and store of a bulk
tensor (64 KiB and more) whose rows are multiples of 16 bytes must move 16 bytes. A kernel whose name begins with NAME is
excepted, and must be one that needs it. Prints how many kernels and accesses were looked at.
"""
import re
import sys

BULK = 64 * 1024
BITS = {"f32": 32, "bf16": 16, "f16": 16, "i32": 32, "i64": 64}


def tensors(types):
    """(bytes, bytes of a row) of each tensor of a list of types."""
    found = []
    for shape, element in re.findall(r"tensor<((?:\d+x)*)(f32|bf16|f16|i32|i64)>", types):
        sizes = [int(n) for n in shape.split("x") if n]
        row = sizes[-1] if sizes else 1
        count = 1
        for n in sizes:
            count *= n
        found.append((count * BITS[element] // 8, row * BITS[element] // 8))
    return found


def parameters(text):
    """Tensors of each kernel, as its GPU kernels get them: operands, then results."""
    kernels = {}
    for name, operands, results in re.findall(r"func\.func private @(k_\w+)\((.*?)\) -> (.*?) attributes \{", text):
        kernels[name] = tensors(operands) + tensors(results)
    return kernels


def accesses(ptx):
    """(load or store, bytes, numbers of the parameters that the address may come from) of each access of an entry."""
    origins, moves, found = {}, [], []
    for line in ptx.split("\n"):
        line = re.sub(r"@!?%p\d+", "", line).strip()
        if load := re.match(r"ld\.param\S*\s+(%rd\d+), \[\w+_param_(\d+)\]", line):
            origins.setdefault(load[1], set()).add(int(load[2]))
        elif access := re.match(r"(ld|st)\.(?:volatile\.)?global\S*?(\.v\d)?\.\w(\d+)\s", line):
            address = re.search(r"\[(%rd\d+)", line)
            if not address:
                sys.exit(f"cannot read '{line}'")
            found.append((access[1], int((access[2] or ".v1")[2:]) * int(access[3]) // 8, address[1]))
        elif move := re.match(r"\S+\s+(%rd\d+), (.*);", line):
            moves.append((move[1], re.findall(r"%rd\d+", move[2])))
    changed = True
    while changed:
        changed = False
        for to, sources in moves:
            known = origins.setdefault(to, set())
            more = set().union(*(origins.get(source, set()) for source in sources)) - known
            known |= more
            changed |= bool(more)
    return [(kind, size, origins.get(register, set())) for kind, size, register in found]


def main(kernels_file, ptx_file, *exceptions):
    kernels = parameters(open(kernels_file).read())
    excepted = {name.split("=")[0]: False for name in exceptions}
    faults, looked, bulk = [], 0, 0
    text = open(ptx_file).read().replace("\\0A", "\n").replace("\\09", "\t")
    for name, ptx in re.findall(r'module @(k_\w+) attributes \{.*?hocket\.ptx = "(.*?)"', text, re.S):
        looked += 1
        narrow = []
        for kind, size, origin in (access for entry in ptx.split(".entry")[1:] for access in accesses(entry)):
            known = [kernels[name][i] for i in origin if i < len(kernels[name])]
            if known and all(total >= BULK and row % 16 == 0 for total, row in known):
                bulk += 1
                if size != 16:
                    narrow.append(f"{name}: {kind} of {size} bytes, parameters {sorted(origin)}")
        exception = next((each for each in excepted if name.startswith(each)), None)
        if exception is None:
            faults += narrow
        elif narrow:
            excepted[exception] = True
    faults += [f"{name} is excepted and moves 16 bytes at a time" for name, used in excepted.items() if not used]
    if faults:
        sys.exit("\n".join(faults))
    print(f"{looked} kernels, {bulk} accesses of bulk data, all of 16 bytes")


main(*sys.argv[1:])
