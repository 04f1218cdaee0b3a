"""Runs command lines that cannot be read: flags.py MODEL. Each must end with status 2, nothing on standard output and exactly the
lines that the table has. Every flag that --help lists must stand in the table or among those that act everywhere, so that nobody
adds one without saying where it acts."""

import re
import subprocess
import sys

MODEL = sys.argv[1]
PLAN = ["--microbatch 2", "--zero 1", "--split auto", "--sequence-parallel", "--context ring", "--experts dp", "--schedule gpipe",
        "--chunks 2", "--recompute full", "--offload parameters", "--overlap all"]
WHOLE = "is not a whole number from {} to {}"
NUMBER = 1 << 62

# The commands, with as much as they need, and their flags that act wherever they stand (or have a fault in the table anyway).
COMMANDS = {
    "compile": ("hocket compile MODEL --plan ptd -o out", ["--plan", "--output", "--target", "--memory", "--max-implicit-comm"]),
    "check": ("hocket check MODEL", ["--format", "--semantics", "--schedule"]),
    "explain": ("hocket explain MODEL --plan ptd", ["--plan", "--mesh", "--format", "--rank", "--target", "--memory", "--max-implicit-comm"]),
    "diff": ("hocket diff single ptd MODEL", ["--format", "--memory"]),
    "interpret": ("hocket interpret MODEL --plan ptd --data MODEL",
                  ["--plan", "--mesh", "--data", "--data-type", "--document-end", "--mask-document-ends", "--pad-id", "--no-shuffle",
                   "--steps", "--seed", "--precision", "--compare", "--memory", "--max-implicit-comm"]),
    "ckpt show": ("hocket ckpt show DIR", ["--format", "--verify"]),
    "ckpt reshard": ("hocket ckpt reshard DIR --program OUT -o DIR2", ["--program"]),
    "ckpt export": ("hocket ckpt export DIR -o FILE", ["--type"]),
    "hocket-run": ("hocket-run -n 2 OUT --data FILE --steps 3",
                   ["--ranks", "--hosts", "--data", "--steps", "--seed", "--timeout", "--eval-data", "--metrics", "--trace",
                    "--log-calls", "--check-finite", "--emulate", "--save", "--resume"]),
}

# A command line and all that is said of it.
CASES = [
    # Without what they belong to.
    *[(f"hocket {command} MODEL --plan ptd {rest} {flag}", [f"{flag} has no effect without --mesh"])
      for command, rest in [("compile", "-o out"), ("explain", ""), ("interpret", "--data x")] for flag in PLAN],
    *[(f"hocket check MODEL {flag}", [f"{flag} has no effect without --mesh"]) for flag in PLAN
      if not flag.startswith(("--schedule", "--chunks"))],
    *[(f"hocket check MODEL {flag}", [f"{flag} beside a model has no effect without --mesh"])
      for flag in ["--schedule gpipe", "--chunks 2"]],
    *[(f"hocket check --schedule gpipe --stages 2 --microbatches 4 {flag}", [f"{flag} has no effect without MODEL"])
      for flag in ["--plan ptd", "--mesh pp=2", "--memory 1", "--max-implicit-comm 1", "--set layers=2"]],
    *[(f"hocket check MODEL {flag}", [f"{flag} has no effect beside MODEL"])
      for flag in ["--stages 2", "--microbatches 2", "--max-in-flight 2", "--print"]],
    ("hocket check", ["MODEL or --schedule is required"]),
    ("hocket check --schedule gpipe --stages 2 --microbatches 4 --print --format=json", ["--print has no effect beside --format=json"]),
    # A schedule alone: sizes, chunks and names.
    ("hocket check --schedule gpipe --stages 2", ["--schedule gpipe is a schedule of any size; --stages and --microbatches say which"]),
    ("hocket check --schedule 1f1b --chunks 3", ["--schedule 1f1b is a schedule of any size; --stages and --microbatches say which",
                                                 "1f1b with 3 chunks a stage; legal: 1"]),
    *[(f"hocket check --schedule {name} --stages 2 --microbatches 4 --chunks 1", [f"{name} with 1 chunk a stage; legal: 2"])
      for name in ["zb-v", "v-half", "v-min", "dualpipe-v"]],
    ("hocket check --schedule 1f1c --stages 2 --microbatches 4",
     [r"--schedule: no file '1f1c', and unknown schedule '1f1c'; known: gpipe, .*; did you mean '1f1b'"]),
    ("hocket check --schedule file:", ["--schedule: 'file:' names no file behind ':'"]),
    *[(f"hocket check --schedule 1f1b --stages {stages} --microbatches 4", [f"--stages: '{stages}' {WHOLE.format(1, 32768)}"])
      for stages in [32769, 100000000]],
    ("hocket check --schedule zb-v --stages 32768 --microbatches 4 --chunks 2",
     ["32768 stages of 2 chunks are 65536 virtual stages; at most 32768"]),
    ("hocket compile MODEL --plan ptd", ["neither -o OUT nor --emit LAYER is given"]),
    ("hocket compile MODEL --plan ptd -o out --emit=nn", ["--emit nn and --output out cannot stand together"]),
    ("hocket compile MODEL --plan ptd --mesh dp=2 -o out", ["--mesh dp=2 and --plan ptd cannot stand together"]),
    ("hocket compile MODEL --plan ptd --emit=nn --march native --threads 2",
     ["--march native has no effect without -o", "--threads 2 has no effect without -o"]),
    ("hocket compile MODEL --plan ptd -o out --epilogues=none", ["--epilogues none has no effect without --target=cuda"]),
    ("hocket compile MODEL --plan ptd -o out --target=cpu --epilogues=library",
     ["--epilogues library has no effect without --target=cuda"]),
    ("hocket compile MODEL --plan ptd -o out --target=cuda --march native",
     ["--march native names a CPU; --target=cuda makes kernels for all GPUs from sm_80 on"]),
    *[(f"hocket {command} --set layers=2", [f"--set layers=2 is an argument of a model in C++, and '{MODEL}' is none"])
      for command in ["compile MODEL --plan ptd -o out", "check MODEL", "explain MODEL --plan ptd", "diff single ptd MODEL",
                      "interpret MODEL --plan ptd --data x"]],
    *[(f"hocket explain MODEL --plan ptd {form} {flag}", [f"{flag} has no effect beside {form.split(' ')[0]}"])
      for form in ["--at model.mlir:7", "--timeline", "--kernels --target=cuda", "--calls --target=cuda"]
      for flag in ["--shardings", "--activations"]],
    *[(f"hocket explain MODEL --plan ptd --target=cuda {flag} {form}", [f"{flag} has no effect beside {form.split(' ')[0]}"])
      for form in ["--at model.mlir:7", "--timeline"] for flag in ["--kernels", "--calls"]],
    *[(f"hocket explain MODEL --plan ptd {flag}", [f"{flag} has no effect without --target=cuda"])
      for flag in ["--kernels", "--calls"]],
    ("hocket explain MODEL --plan ptd --target=cuda --kernels --calls", ["--calls and --kernels cannot stand together"]),
    ("hocket explain MODEL --plan ptd --gpu H100", ["--gpu H100 has no effect without --kernels"]),
    ("hocket explain MODEL --plan ptd --times forward=1", ["--times forward=1 has no effect without --timeline"]),
    ("hocket explain MODEL --plan ptd --timeline=svg --format=json",
     ["--timeline=svg and --format=json are two forms of one answer; give one of them"]),
    ("hocket explain MODEL --plan ptd --at model.mlir:7 --rank 0", ["--at model.mlir:7 and --rank 0 cannot stand together"]),
    ("hocket explain MODEL --plan ptd --timeline --rank 0 --at model.mlir:7",
     ["--rank 0 and --timeline cannot stand together", "--at model.mlir:7 and --rank 0 cannot stand together",
      "--at model.mlir:7 and --timeline cannot stand together"]),
    ("hocket-run -n 2 OUT --steps 3", ["--data (with --steps above 0) is required"]),
    *[(f"hocket-run -n 2 OUT --steps 0 {flag}", [f"{flag} has no effect without --data or --eval-data"])
      for flag in ["--data-type u8", "--document-end 0", "--mask-document-ends", "--pad-id 0"]],
    ("hocket-run -n 2 OUT --steps 0 --no-shuffle", ["--no-shuffle has no effect without --data"]),
    ("hocket-run -n 2 OUT --steps 0 --resume d --new-data", ["--new-data has no effect without --data"]),
    *[(f"hocket-run -n 2 OUT --data x --steps 3 {flag}", [f"{flag} has no effect without {home}"])
      for flag, home in [("--eval-every 2", "--eval-data"), ("--eval-steps 2", "--eval-data"), ("--save-every 2", "--save"),
                         ("--keep 2", "--save"), ("--new-data", "--resume"), ("--dump-steps 1", "--dump"),
                         ("--dump d", "--dump-steps")]],
    ("hocket-run -n 2 OUT --data x --steps 3 --dump d --dump-steps 3,4,5",
     ["--dump-steps 4 comes after the last step 3", "--dump-steps 5 comes after the last step 3"]),
    # Axes that the mesh lacks.
    *[(f"hocket compile MODEL --mesh {mesh} {flag} -o out", [f"{flag} needs an axis {axis} in --mesh; '{mesh}' has none"])
      for mesh, flag, axis in [("dp=2", "--split auto", "tp"), ("dp=2", "--sequence-parallel", "tp"), ("dp=2", "--context ring", "cp"),
                               ("tp=2", "--zero 0", "dp or cp"), ("dp=2", "--chunks 1", "pp"), ("dp=2", "--schedule 1f1b", "pp"),
                               ("dp=2", "--experts tp", "tp")]],
    # Values.
    ("hocket compile MODEL --mesh dp=0,xp=2,dp=2,dp=2,tp -o out",
     ["--mesh: 'dp=0' is not AXIS=SIZE with a size from 1 to 2147483647, as in pp=2,dp=2,tp=2", "--mesh: unknown axis 'xp' (legal: pp, dp, cp, tp)",
      "--mesh: axis 'dp' is given twice", "--mesh: 'tp' is not AXIS=SIZE with a size from 1 to 2147483647, as in pp=2,dp=2,tp=2"]),
    ("hocket check MODEL --mesh dp=2147483647,tp=2", ["--mesh: 'dp=2147483647,tp=2' has more than 2147483647 ranks in all"]),
    ("hocket diff dp=2,qp=2 tp=x MODEL", ["PLAN_A: unknown axis 'qp' (legal: pp, dp, cp, tp)",
                                          "PLAN_B: 'tp=x' is not AXIS=SIZE with a size from 1 to 2147483647, as in pp=2,dp=2,tp=2"]),
    ("hocket check MODEL --mesh pp=2,dp=2,cp=2,tp=2 --microbatch 0 --zero 4 --split some --context rings --experts dp:2 --chunks 0 "
     "--schedule 1f1c --recompute half --recompute full: --offload activation --offload parameters: --overlap gradient,parameters,parameters,all "
     "--semantics nccl:none --memory 0 --max-implicit-comm -1 --format xml",
     ["--format: unknown 'xml' (legal: text, json)", f"--memory: '0' {WHOLE.format(1, NUMBER)}",
      "--split: unknown 'some' (legal: megatron, auto)", f"--microbatch: '0' {WHOLE.format(1, 1 << 30)}", f"--zero: '4' {WHOLE.format(0, 3)}",
      "--experts: 'dp:2' is no axis and no part of one, as in dp or dp:(2)4",
      "--overlap: unknown kind 'gradient' (legal: gradients, parameters, activations; or all alone)", "--overlap: 'parameters' is given twice",
      "--overlap: 'all' stands alone, not among others", "--context: unknown 'rings' (legal: ring, all_gather, all_to_all)",
      "--recompute: unknown kind 'half' (legal: full, selective, auto)",
      "--recompute: 'full:' names no layer behind ':'; without it all layers are meant",
      "--offload: unknown 'activation' (legal: activations, optimizer_state, parameters)",
      "--offload: 'parameters:' names nothing behind ':'; without it all are meant", f"--chunks: '0' {WHOLE.format(1, 1024)}",
      f"--max-implicit-comm: '-1' {WHOLE.format(0, NUMBER)}",
      "--semantics: unknown semantics 'nccl:none'; known: rendezvous, nccl, nccl:R (R communication kernels at work on a rank at a time, 1 or "
      "more), buffered:K (K messages, 1 or more)",
      r"--schedule: unknown schedule '1f1c'; (?:known|legal)?.*1f1b.*"]),
    ("hocket check MODEL --mesh pp=2 --schedule file:", ["--schedule: 'file:' names no file behind ':'"]),
    ("hocket compile MODEL --plan ptd -o out --target=gpu --march none --threads 0 --epilogues=some --set layers",
     ["--set: 'layers' is not NAME=VALUE", "--target: unknown 'gpu' (legal: cpu, cuda)", "--epilogues: unknown 'some' (legal: library, none)",
      r"--march: unknown CPU 'none'.*", f"--threads: '0' {WHOLE.format(1, 1024)}",
      f"--set layers is an argument of a model in C++, and '{MODEL}' is none", "--epilogues some has no effect without --target=cuda"]),
    ("hocket compile MODEL --plan ptd --emit=loc", ["--emit: unknown 'loc' (legal: nn, sharded, local, step, kernels, program)"]),
    ("hocket explain MODEL --plan ptd --rank -1 --at model.mlir", [f"--rank: '-1' {WHOLE.format(0, (1 << 32) - 1)}",
     "--at: 'model.mlir' is not FILE:LINE, as in model.mlir:12", "--at model.mlir and --rank -1 cannot stand together"]),
    ("hocket explain MODEL --plan ptd --timeline=png --times forwards=1,backward=x",
     ["--timeline: unknown 'png' (legal: text, svg, chrome)",
      r"--times: unknown time 'forwards'; known: begin, forward, .*; did you mean 'forward'",
      "--times: 'backward=x' is not backward=NUMBER with a number that is 0, or from 1e-9 to 1e9"]),
    ("hocket explain MODEL --plan ptd --timeline --times forward=1,forward=2,backward=1e308,update=1e-300,message=-1,begin=nan",
     ["--times: 'forward=2' gives a second forward; give it once",
      *[f"--times: '{name}={value}' is not {name}=NUMBER with a number that is 0, or from 1e-9 to 1e9"
        for name, value in [("backward", "1e308"), ("update", "1e-300"), ("message", "-1"), ("begin", "nan")]]]),
    ("hocket explain MODEL --plan ptd --target=cuda --kernels --gpu V100", [r"--gpu: unknown GPU 'V100'; known: .*H100.*"]),
    ("hocket interpret MODEL --plan ptd --data x --steps 0 --seed -1 --precision f16 --data-type u9 --document-end x --pad-id -1",
     ["--data-type: unknown 'u9' (legal: u8, u16, u32, megatron)", f"--document-end: 'x' {WHOLE.format(0, 1 << 31)}",
      f"--pad-id: '-1' {WHOLE.format(0, 1 << 31)}", f"--steps: '0' {WHOLE.format(1, 1 << 30)}", f"--seed: '-1' {WHOLE.format(0, (1 << 63) - 1)}",
      "--precision: unknown 'f16' (legal: f64, f32, declared)"]),
    ("hocket ckpt show DIR --format=xml", ["--format: unknown 'xml' (legal: text, json)"]),
    ("hocket ckpt export DIR -o FILE --type F8", ["--type: unknown 'F8' (legal: F32, BF16, F16, F64)"]),
    ("hocket ckpt reshard DIR", ["--program is required", "-o is required"]),
    ("hocket-run -n two OUT --data x --steps some --seed x --timeout 0 --eval-data y --eval-every 0 --eval-steps 0 --dump d --dump-steps x "
     "--emulate=x --save d --save-every 0 --keep 0",
     [f"--ranks: 'two' {WHOLE.format(1, 1 << 20)}", f"--steps: 'some' {WHOLE.format(0, 1 << 40)}", f"--seed: 'x' {WHOLE.format(0, (1 << 63) - 1)}",
      "--timeout: '0' is not a number of seconds above 0", f"--eval-every: '0' {WHOLE.format(1, 1 << 40)}",
      f"--eval-steps: '0' {WHOLE.format(1, 1 << 31)}", f"--dump-steps: 'x' {WHOLE.format(0, 1 << 40)}", f"--emulate: 'x' {WHOLE.format(0, (1 << 63) - 1)}",
      f"--save-every: '0' {WHOLE.format(1, 1 << 40)}", f"--keep: '0' {WHOLE.format(1, 1 << 30)}"]),
    # Twice; nothing behind '='; a value where there is none; no value where there is one.
    ("hocket-run -n 2 -n 4 OUT --data x --steps 3 --emulate=1 --emulate=2 --check-finite --check-finite",
     ["--ranks is given 2 times ('2', '4'), expected once", "--check-finite is given 2 times, expected once",
      "--emulate is given 2 times ('1', '2'), expected once"]),
    ("hocket compile MODEL --plan a --plan b -o out", ["--plan is given 2 times ('a', 'b'), expected once"]),
    ("hocket-run -n 2 OUT --data= --steps 3 --emulate= --check-finite=maybe --no-shuffle=2",
     ["--data needs a value behind '='", "--emulate needs a value behind '='", "--check-finite takes no value, found 'maybe'",
      "--no-shuffle takes no value, found '2'"]),
    ("hocket-run -n 2 OUT --data --steps 3 --metrics", ["--data needs a value, found the option '--steps'", "--metrics needs a value"]),
    ("hocket explain MODEL --plan ptd --timeline=", ["--timeline needs a value behind '='"]),
    # Words that nothing takes, and MLIR's own.
    ("hocket", ["a command is required: compile, check, diff, explain, interpret, ckpt"]),
    ("hocket ckpt", ["a command is required: show, reshard, export"]),
    ("hocket compile MODEL --plan ptd more --out x", ["there is no place for the word 'more'",
                                                      r"(?:unknown option '--out'|there is no place for the word 'x').*", ...]),
    ("hocket compile MODEL --plan ptd -o out --mlir-print-ir-after-al", [r"hocket: Unknown command line argument '--mlir-print-ir-after-al'\..*", ...]),
    ("hocket check MODEL --mlir-timing=some", [r"hocket: for the --mlir-timing option: 'some' is invalid value .*"]),
    ("hocket-opt MODEL --mlir-timing=some", [r"hocket-opt: for the --mlir-timing option: 'some' is invalid value .*"]),
    ("hocket-lsp-server --log some --lit-test=x", ["--lit-test takes no value, found 'x'"]),
    ("hocket-lsp-server --log some", ["--log: unknown 'some' (legal: error, info, verbose)"]),
    ("hocket-opt MODEL --dist-to-stepp", [r".*Unknown command line argument '--dist-to-stepp'\..*", ...]),
]


def run(line):
    words = [MODEL if word == "MODEL" else word for word in line.split(" ") if word]
    return subprocess.run(words, capture_output=True, text=True)


def same(found, expected):
    if expected and expected[-1] is ...:
        found, expected = found[:len(expected) - 1], expected[:-1]
    texts = [line.removeprefix("error: ") for line in found]
    return len(texts) == len(expected) and all(text == want or ("(?" in want or ".*" in want) and re.fullmatch(want, text)
                                               for text, want in zip(texts, expected))


faults = 0
for line, expected in CASES:
    ended = run(line)
    found = ended.stderr.splitlines()
    if ended.returncode != 2 or ended.stdout or not same(found, expected):
        faults += 1
        print(f"fault: {line}\n  ends with {ended.returncode} {ended.stdout[:80]!r}, says", *found, "  expected", *expected, sep="\n  ")

told = {}  # command -> flags that a line of the table speaks of
for line, expected in CASES:
    command = next(name for name in [*COMMANDS, "hocket"] if line.removeprefix("hocket ").startswith(name) or name == "hocket")
    told.setdefault(command, set()).update(re.findall(r"--[a-z-]+", " ".join(str(text) for text in expected)))
for command, (line, everywhere) in COMMANDS.items():
    program = ["hocket-run"] if command == "hocket-run" else ["hocket", *command.split(" ")]
    text = subprocess.run([*program, "--help"], capture_output=True, text=True).stdout
    listed = {names[-1] for names in (re.findall(r"--[a-z-]+", found) for found in re.findall(r"^  (-\S+)", text, re.M)) if names}
    for flag in sorted(listed - told.get(command, set()) - set(everywhere) - {"--help"}):
        faults += 1
        print(f"fault: the table does not say where {flag} of {command} acts")
print(f"{len(CASES)} command lines, {faults} faults")
