"""A file with all that tools/gpu-check needs on a machine that has a GPU and neither compiler nor network.

  bin/            programs; tests that need no compiler
  lib/            the libraries they need, but those of the C and C++ runtimes
  made/           executables and the data of training, the CPU's losses, floors of kernels by GPU
  kernels/ attention/    kernels, and what they make of their buffers (HOCKET_TEST_RECORD)
"""

import os
import re
import shutil
import subprocess
import tarfile
import time

from . import machine, parts, running

PROGRAMS = ["hocket-run", "test/CudaTests", "test/CommConformanceTests", "test/replay-kernels"]
GPUS = ["A100", "A100-40GB", "H100", "H100-PCIe", "H200", "B200"]
SYSTEM = re.compile(r"ld-linux|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so")
HOURS = 3600 # a pack is made without haste


def write(work, path):
    """Makes a pack; its exit status."""
    part = running.Part("pack", 4 * HOURS, work.out)
    try:
        for name, program in (("kernels", "CodegenCudaTest"), ("attention", "CodegenCudaAttentionTest")):
            record(part, work, name, program)
        parts.train_on_cpu(part, work)
        parts.compile_model(part, work, work.model(), "gpu", "--target=cuda")
        parts.compile_model(part, work, work.half_model(), "half", "--target=cuda")
        for gpu in GPUS:
            parts.explain_kernels(part, work, gpu)
        for ranks, plan in parts.PLANS.items():
            part.run([f"{work.bin}/hocket", "compile", f"{work.source}/examples/tiny/model.mlir", *plan, "--target=cuda", "-o",
                      f"{work.made}/many{ranks}"], f"compile for {ranks} GPUs")
    except running.Failure as failure:
        print(f"gpu-check: {failure.args[0]}; see {part.log}")
        return 1
    os.remove(f"{work.made}/cpu")
    gather(work)
    with tarfile.open(path, "w:xz", preset=6) as archive:
        for folder in ("bin", "lib", "made", "kernels", "attention"):
            archive.add(f"{work.out}/pack/{folder}", folder)
    print(f"{path}: {os.path.getsize(path) / 1e6:.1f} MB; tools/gpu-check --packed {os.path.basename(path)} runs it")
    return 0


def record(part, work, name, program):
    """Runs the tests of kernels on the emulator and keeps what kernels made. They must pass: what is kept is the measure."""
    folder = f"{work.out}/pack/{name}"
    os.makedirs(folder)
    part.faults.clear()
    part.tests(f"{work.tests}/{program}", parts.kernel_tests(work, name), max(1, os.cpu_count()), {"HOCKET_TEST_RECORD": folder})
    if part.faults:
        raise running.Failure("; ".join(part.faults))
    print(f"{len(os.listdir(folder))} kernel runs recorded: {name}", flush=True)


def gather(work):
    """Programs, what was made, and libraries, side by side."""
    folder = f"{work.out}/pack"
    shutil.move(work.made, f"{folder}/made")
    libraries = {}
    for program in [f"{work.bin}/{name}" for name in PROGRAMS] + [f"{folder}/made/gpu"]:
        said = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
        for name, place in re.findall(r"^\s*(\S+) => (/\S+)", said, re.M):
            if not SYSTEM.match(name):
                libraries[name] = place
    os.makedirs(f"{folder}/lib")
    os.makedirs(f"{folder}/bin/test")
    for name in PROGRAMS:
        shutil.copy2(f"{work.bin}/{name}", f"{folder}/bin/{name}")
    for name, place in libraries.items():
        shutil.copy2(os.path.realpath(place), f"{folder}/lib/{name}")


def open_in(work, path):
    """Unpacks; from here on `work` is what the pack holds."""
    folder = f"{work.out}/packed"
    begin = time.monotonic()
    try:
        with tarfile.open(path) as archive:
            archive.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(folder)
    except (OSError, tarfile.TarError) as error:
        raise machine.Lacking(f"{path} cannot be unpacked: {error}") from None
    print(f"unpacked {path} in {time.monotonic() - begin:.0f} s")
    work.packed, work.made = folder, f"{folder}/made"
    work.bin, work.tests, work.libraries = f"{folder}/bin", f"{folder}/bin/test", [f"{folder}/lib"]
