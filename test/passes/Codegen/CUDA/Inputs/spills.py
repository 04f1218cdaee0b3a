"""What the assembler says of a model's kernels, from `hocket compile --target=cuda --emit=kernels`.

spills.py FILE [NAME=REASON ...]: every kernel must have figures for sm_80, sm_90 and sm_100 and spill nothing. A kernel
whose name begins with NAME is excepted, and must be one that spills. Prints the number of kernels, the most registers of a
thread on each architecture, and what is spilled, by name.
"""
import re
import sys

ARCHITECTURES = ["sm_80", "sm_90", "sm_100"]


def main(file, *exceptions):
    excepted = {name.split("=")[0]: False for name in exceptions}
    kernels, faults, most = 0, [], dict.fromkeys(ARCHITECTURES, 0)
    for line in open(file):
        if not (kernel := re.match(r"\s*func\.func private @(k_\w+)\(", line)):
            continue
        kernels += 1
        launches = re.search(r"hocket\.launches = \[(.*?)\]", line)
        figures = re.findall(
            r'architecture = "(sm_\d+)", registers = (\d+) : i64, shared = \d+ : i64, spilled = (\d+) : i64', line
        )
        expected = ARCHITECTURES * (launches[1].count("symbol = ") if launches else 1)
        if sorted(name for name, _, _ in figures) != sorted(expected):
            faults.append(f"{kernel[1]} has figures for {[name for name, _, _ in figures]}, expected {expected}")
        for name, registers, spilled in figures:
            most[name] = max(most.get(name, 0), int(registers))
            exception = next((each for each in excepted if kernel[1].startswith(each)), None)
            if int(spilled) and exception is None:
                faults.append(f"{kernel[1]} spills {spilled} bytes on {name}")
            elif int(spilled):
                excepted[exception] = True
    faults += [f"{name} is excepted and spills nothing" for name, used in excepted.items() if not used]
    if not kernels:
        faults.append("there is no kernel")
    if faults:
        sys.exit("\n".join(faults))
    registers = ", ".join(f"{name} {count}" for name, count in most.items())
    print(f"{kernels} kernels, most registers: {registers}; spilled: {', '.join(excepted) or 'nothing'}")


main(*sys.argv[1:])
