"""What this machine has: its GPUs, and where libraries of NVIDIA's lie that the loader does not find by itself."""

import ctypes
import glob
import os
import site
import sys


class Lacking(Exception):
    """This machine lacks something; exit status 4."""


def gpus():
    """The names of the GPUs that the driver sees."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise Lacking(f"no GPU: the NVIDIA driver is missing ({error})") from None
    if code := driver.cuInit(0):
        raise Lacking(f"no GPU: the NVIDIA driver does not start (cuInit: {code})")
    count = ctypes.c_int()
    if driver.cuDeviceGetCount(ctypes.byref(count)) or count.value == 0:
        raise Lacking("no GPU: the NVIDIA driver sees none")
    names = []
    for number in range(count.value):
        name = ctypes.create_string_buffer(256)
        driver.cuDeviceGetName(name, 256, number)
        names.append(name.value.decode())
    return names


def library_folders():
    """Folders for LD_LIBRARY_PATH: of a CUDA toolkit, and of Python packages that carry cublasLt and NCCL."""
    roots = [os.path.join(root, part) for root in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda")
             if root for part in ("lib64", "lib")]
    for packages in dict.fromkeys([*site.getsitepackages(), *sys.path]):
        roots += sorted(glob.glob(os.path.join(packages, "nvidia", "*", "lib")))
    found = []
    for names in (["libcublasLt.so.13", "libcublasLt.so.12"], ["libnccl.so.2"]):
        if not any(loads(name) for name in names):
            found += [root for root in roots if any(os.path.exists(os.path.join(root, name)) for name in names)][:1]
    return found


def loads(name):
    try:
        ctypes.CDLL(name)
        return True
    except OSError:
        return False


def like(name):
    """The GPU of `hocket explain --gpu`: NVIDIA A100-SXM4-40GB -> A100-40GB; of an unknown one H100, which the table then names."""
    chip = next((chip for chip in ("B200", "H200", "H100", "A100") if chip in name), "H100")
    return chip + ("-PCIe" if chip == "H100" and "PCIe" in name else "-40GB" if chip == "A100" and "40GB" in name else "")
