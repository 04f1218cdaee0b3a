import importlib.util
import os
import shutil
import subprocess
import lit.formats

config.name = "Hocket"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join([config.hocket_tools_dir, os.path.join(config.hocket_tools_dir, "test"),
                                               config.llvm_tools_dir, os.environ["PATH"]])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input=fail"
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
config.substitutions.append(("%examples", os.path.join(config.hocket_source_dir, "examples")))
config.substitutions.append(("%build", config.hocket_build_dir))
config.substitutions.append(("%cxx", config.hocket_cxx))
config.substitutions.append(("%source", config.hocket_source_dir))
config.substitutions.append(("%python", "python3"))
config.substitutions.append(("%mlir_include", config.mlir_include_dir))
config.substitutions.append(("%exits", "python3 " + os.path.join(config.test_source_root, "integration", "Inputs", "exits.py")))
# The nightly sizes: tools/check --long sets HOCKET_LONG=1.
if os.environ.get("HOCKET_LONG") == "1":
    config.available_features.add("long")
# Parts of CUDA: without them kernels for GPUs are neither made (libdevice) nor assembled (ptxas).
cuda_roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
if os.path.exists(os.path.join(next(filter(None, cuda_roots)), "nvvm/libdevice/libdevice.10.bc")): # the first that is set
    config.available_features.add("libdevice")
    if shutil.which("ptxas") or any(root and os.path.exists(os.path.join(root, "bin/ptxas")) for root in cuda_roots):
        config.available_features.add("ptxas")
# Where there is a driver of NVIDIA's, nothing can say that it is missing.
if not shutil.which("nvidia-smi") and not any(os.path.exists(place) for place in ("/dev/nvidiactl", "/usr/lib/x86_64-linux-gnu/libcuda.so.1")):
    config.available_features.add("no-gpu")
# PyPI's safetensors, which is in no Debian package: where it is missing, the test that needs it counts as unsupported.
if importlib.util.find_spec("safetensors"):
    config.available_features.add("python-safetensors")
# Mounts of a test's own, in a mount namespace that goes away with it: root has them, others where user namespaces are allowed.
privately = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
try:
    mounted = subprocess.run(privately + ["mount", "-t", "tmpfs", "none", "/mnt"], stderr=subprocess.DEVNULL).returncode == 0
except OSError:
    mounted = False
if mounted:
    config.available_features.add("private-mounts")
config.substitutions.append(("%privately", " ".join(privately)))
