"""The parts of tools/gpu-check, and what they are made from."""

import glob
import os
import shutil

from . import figures, machine

# Built programs that the parts run.
PROGRAMS = ["bin/hocket", "bin/hocket-run", "bin/test/CudaTests", "bin/test/CommConformanceTests", "bin/test/CodegenCudaTest",
            "bin/test/CodegenCudaAttentionTest"]
CPU_STEPS, GPU_STEPS = 3, 20


class Work:
    """Where programs are, and where what they make goes."""

    def __init__(self, source, build, out, emulate):
        self.source, self.out, self.emulate, self.packed = source, out, emulate, None
        self.bin, self.tests, self.made, self.libraries = f"{build}/bin", f"{build}/bin/test", f"{out}/made", []
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(self.made)
        os.environ["PATH"] = self.bin + os.pathsep + os.environ["PATH"] # where executables look for their tools

    def model(self):
        return f"{self.source}/examples/{'tiny' if self.emulate else 'gpt2-124m'}/model.mlir"

    def half_model(self):
        """The model as it is trained on GPUs: bf16, eight sequences at once."""
        path = f"{self.made}/bf16.mlir"
        with open(self.model()) as file:
            text = file.read()
        changes = [("  precision params f32 compute f32 accumulate f32\n",
                    "  precision params bf16 compute bf16 accumulate f32 reduce f32 master f32\n"),
                   ("  batch 4 sequences\n", "  batch 32 sequences\n"),
                   ('  batch over "dp" microbatch 1 sequences\n', '  batch over "dp" microbatch 8 sequences\n')]
        for old, new in [] if self.emulate else changes:
            if text.count(old) != 1:
                raise RuntimeError(f"{self.model()} has changed: {text.count(old)} times {old.strip()}")
            text = text.replace(old, new)
        with open(path, "w") as file:
            file.write(text)
        return path

    def device(self):
        return {"HOCKET_TEST_DEVICE": "emulator" if self.emulate else "cuda"}


# ---- what is made ---------------------------------------------------------------------------------------------------
def make_data(work):
    """Text to train on: that of Hocket itself."""
    with open(f"{work.made}/data", "wb") as data:
        for pattern in ("README.md", "dialect/*.md", "dialect/*/README.md", "examples/*/model.mlir"):
            for path in sorted(glob.glob(f"{work.source}/{pattern}")):
                with open(path, "rb") as file:
                    data.write(file.read())


def compile_model(part, work, model, name, *flags):
    part.run([f"{work.bin}/hocket", "compile", model, "--plan", "single", *flags, "-o", f"{work.made}/{name}"], f"compile {name}")


def train(part, work, name, steps, *flags):
    emulated = work.emulate and name != "cpu"
    part.run([f"{work.bin}/hocket-run", "-n", "1", f"{work.made}/{name}", "--data", f"{work.made}/data", "--steps", steps,
              "--metrics", f"{work.out}/{name}.jsonl", *(["--emulate"] if emulated else []), *flags], f"{steps} steps of {name}",
             {"HOCKET_EMULATOR_CHECK": "0"} if emulated else {}) # its checks are other tests' matter, and slow


def train_on_cpu(part, work):
    make_data(work)
    compile_model(part, work, work.model(), "cpu")
    train(part, work, "cpu", CPU_STEPS)
    shutil.move(f"{work.out}/cpu.jsonl", f"{work.made}/cpu.jsonl")


def explain_kernels(part, work, gpu):
    part.run([f"{work.bin}/hocket", "explain", work.half_model(), "--plan", "single", "--target=cuda", "--kernels", "--gpu", gpu,
              "--format=json"], "explain --kernels", output=f"{work.made}/kernels-{gpu}.json")


# ---- the parts ------------------------------------------------------------------------------------------------------
def devices(part, work, gpus):
    """Order of streams, events, graphs, copies, products: the conformance suite of devices."""
    if work.emulate:
        part.checked = False
        return part.say("the emulator's own tests see to it")
    part.tests(f"{work.tests}/CudaTests", "Device.*", 1, work.device())


def kernels(part, work, gpus):
    """Elementwise, rows, moves, experts, against the reference."""
    compare_kernels(part, work, "CodegenCudaTest")


def attention(part, work, gpus):
    """Forward and backward, against the reference."""
    compare_kernels(part, work, "CodegenCudaAttentionTest")


# Not what the assembler says, nor what the emulator says of planted faults.
ALL = {"kernels": "-Assembly.*", "attention": "-AttentionAssembly.*:*AttentionFaults.*:*EmitterFaults.*"}
FEW = {"kernels": "Element.OneOperand:Element.ChainWithTwoBiases:Move.Positions", "attention": "Attention.QueriesThatSeeNothing"}


def kernel_tests(work, name):
    return (FEW if work.emulate else ALL)[name]


def compare_kernels(part, work, program):
    if not work.packed:
        return part.tests(f"{work.tests}/{program}", kernel_tests(work, part.name), 1 if work.emulate else max(1, min(8, os.cpu_count() // 2)),
                          work.device())
    said = part.run([f"{work.tests}/replay-kernels", f"{work.packed}/{part.name}"], "replay-kernels", work.device())
    part.say(said.splitlines()[-1])


def communicators(part, work, gpus):
    """The conformance suite of communicators over NCCL, as far as there are GPUs; on several also a plan."""
    few = "*CollectivesOfOneRank/gpu:*OverGpus*_1:*OverGpus*_2"
    part.tests(f"{work.tests}/CommConformanceTests", few if work.emulate else "*/gpu:*OverGpus*", 1,
               {} if work.emulate else work.device())
    if len(gpus) < 2:
        return part.say("a plan over NCCL needs two GPUs")
    ranks = 4 if len(gpus) >= 4 else 2
    if not work.packed:
        make_data(work)
        part.run([f"{work.bin}/hocket", "compile", f"{work.source}/examples/tiny/model.mlir", *PLANS[ranks], "--target=cuda", "-o",
                  f"{work.made}/many{ranks}"], f"compile for {ranks} GPUs")
    part.run([f"{work.bin}/hocket-run", "-n", ranks, f"{work.made}/many{ranks}", "--data", f"{work.made}/data", "--steps", "5"],
             f"5 steps on {ranks} GPUs")
    part.say(f"5 steps of {' '.join(PLANS[ranks])} over NCCL")


PLANS = {2: ["--mesh", "dp=2"], 4: ["--mesh", "dp=2,tp=2"]}


def training(part, work, gpus):
    """The loss curve beside the CPU's."""
    if not work.packed:
        train_on_cpu(part, work)
        compile_model(part, work, work.model(), "gpu", "--target=cuda")
    train(part, work, "gpu", 2 if work.emulate else GPU_STEPS)
    text, fault = figures.losses(f"{work.made}/cpu.jsonl", f"{work.out}/gpu.jsonl")
    print("\n".join(text))
    losses = [step["loss"] for step in figures.lines(f"{work.out}/gpu.jsonl")]
    print("on the GPU:", " ".join(f"{loss:.4f}" for loss in losses))
    if fault:
        return part.fail(fault)
    part.say(text[-1])
    if not work.emulate:
        part.say(f"loss {losses[0]:.3f} to {losses[-1]:.3f} in {len(losses)} steps")
        if losses[-1] >= losses[0]:
            part.fail("the loss does not fall")


def rates(part, work, gpus):
    """What kernels and products take, and what they reach, of the model in bf16."""
    gpu = machine.like(gpus[0] if gpus else "H100")
    if not work.packed:
        make_data(work)
        compile_model(part, work, work.half_model(), "half", "--target=cuda")
        explain_kernels(part, work, gpu)
    train(part, work, "half", 1 if work.emulate else 2, "--trace", f"{work.out}/trace") # the first step warms up
    if not work.emulate: # of a traced step each piece is waited for
        train(part, work, "half", 12)
    text, rated = figures.table(f"{work.made}/kernels-{gpu}.json", f"{work.out}/trace", f"{work.out}/half.jsonl")
    print("\n".join(text))
    for line in rated:
        part.say(line)
