// hocket compile: model and plan to one executable, or any layer on the way.
#include "passes/Codegen/CPU/Kernels.h"
#include "passes/StepToProgram/StepToProgram.h"
#include "runtime/Checkpoint/Folder.h"
#include "runtime/Launch/Counted.h"
#include "runtime/Launch/FlagRules.h"
#include "tools/CommandLine.h"
#include "tools/hocket/ChooseWithin.h"
#include "tools/hocket/Commands.h"
#include "tools/hocket/CudaKernels.h"
#include "tools/hocket/ExecutableFile.h"
#include "tools/hocket/Lowering.h"
#include "tools/hocket/MemoryLimit.h"
#include "tools/hocket/Report.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <thread>
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

namespace {
struct CompileOptions {
  ModelFile model;
  std::string output, emit, target = "cpu", epilogues = "library";
  std::optional<std::string> march;
  std::optional<uint64_t> memory;
  std::optional<uint32_t> threads;
  PlanFlags plan;
};

const std::map<std::string, Layer> layers = {{"nn", Layer::NN},
                                             {"sharded", Layer::Sharded},
                                             {"local", Layer::Local},
                                             {"step", Layer::Step},
                                             {"kernels", Layer::Kernels}};

/// The peak of every stage, or that it is too high.
bool fits(Session &session, const program::ProgramT &program, std::optional<uint64_t> limit) {
  if (!fitsInto(session, program, limit))
    return false;
  for (const RankReport &rank : makeReport(program).ranks)
    fmt::print("stage {}: {}, {} bytes ({}) a rank; {}\n", rank.stage, run::counted(rank.ranks, "rank"), rank.peakBytes,
               bytesText(rank.peakBytes), rank.layers);
  return true;
}

uint32_t threadsFor(const CompileOptions &options, int64_t world) {
  if (options.threads)
    return *options.threads;
  uint32_t threads = std::max<int64_t>(1, std::thread::hardware_concurrency() / world);
  fmt::print(stderr, "default taken: --threads {} (cores of this machine over ranks)\n", threads);
  return threads;
}

/// Says what was written and how to run it.
int finish(int outcome, const program::ProgramT &program, PlanChoice &choice, const CompileOptions &options) {
  if (outcome == Done)
    fmt::print("wrote {}: {}, {}; run it with hocket-run -n {} {} --data FILE --steps N\n", options.output,
               run::counted(choice.mesh.getWorldSize(), "rank"), run::counted(program.kernels.size(), "kernel"),
               choice.mesh.getWorldSize(), options.output);
  return outcome;
}

int compileForCpu(Session &session, ModuleOp module, PlanChoice &choice, const CompileOptions &options) {
  std::string error;
  FailureOr<cpu::CpuTarget> target = cpu::CpuTarget::find(options.march.value_or("native"), error);
  if (failed(target)) {
    session.error(error);
    return InputAtFault;
  }
  FailureOr<OwningOpRef<ModuleOp>> kernels = cpu::emitKernels(module, *target);
  if (failed(kernels))
    return InputAtFault;
  step::ProgramTarget where{"cpu", target->cpu, target->features, threadsFor(options, choice.mesh.getWorldSize())};
  std::optional<program::ProgramT> program = step::buildProgram(module, where);
  if (!program)
    return InputAtFault;
  fmt::print("model {}: {} parameters\n", program->name, program->parameters);
  if (!fits(session, *program, options.memory))
    return InputAtFault;
  return finish(writeExecutable(session, *program, **kernels, *target, options.output), *program, choice, options);
}

/// The executable holds the GPU's code in its program file. The host's part is the runtime alone, for any CPU of this
/// architecture.
int compileForCuda(Session &session, ModuleOp module, PlanChoice &choice, const CompileOptions &options) {
  OwningOpRef<ModuleOp> made = emitCudaKernels(session, module);
  if (!made)
    return InputAtFault;
  std::optional<program::ProgramT> program = step::buildProgram(module, {"cuda", "", {}, options.threads.value_or(1)});
  if (!program)
    return InputAtFault;
  fmt::print("model {}: {} parameters\n", program->name, program->parameters);
  if (!fits(session, *program, options.memory))
    return InputAtFault;
  auto kernels = compileCudaKernels(session, module, *made);
  if (!kernels)
    return session.errors() ? InputAtFault : MachineLacks;
  step::addGpuCode(*program, *kernels);
  std::string error;
  FailureOr<cpu::CpuTarget> host = cpu::CpuTarget::find("native", error);
  if (failed(host)) {
    session.error(error);
    return MachineLacks;
  }
  OwningOpRef<ModuleOp> none = ModuleOp::create(module.getLoc());
  return finish(writeExecutable(session, *program, *none, *host, options.output), *program, choice, options);
}

/// Whether the executable can be written where it is asked for, before hours of work go into it.
bool checkOutput(Session &session, const CompileOptions &options) {
  namespace fs = llvm::sys::fs;
  if (bool same = false; !fs::equivalent(options.model.path, options.output, same) && same)
    session.error(fmt::format("-o {} is the model file itself; it would be lost", options.output));
  else if (fs::is_directory(options.output))
    session.error(fmt::format("-o {} is a folder", options.output));
  else if (checkpoint::liesInCheckpoint(options.output))
    session.error(fmt::format("-o {} lies in a checkpoint, which it would damage", options.output));
  else if (StringRef folder = llvm::sys::path::parent_path(options.output);
           !folder.empty() && fs::access(folder, fs::AccessMode::Write))
    session.error(
        fmt::format("-o {}: the folder '{}' does not exist or cannot be written", options.output, folder.str()));
  return !session.errors();
}

int compile(const CompileOptions &options) {
  Session session;
  if (!options.output.empty() && !checkOutput(session, options))
    return InputAtFault;
  std::optional<Job> job = openJob(session, options.model, options.plan);
  if (!job)
    return session.failure();
  PlanChoice &choice = job->choice;
  choice.forGpu = options.target == "cuda";
  choice.epilogues = options.epilogues == "library";
  bool judges = options.emit.empty() || options.emit == "kernels" || options.emit == "program";
  if (!chooseWithin(session, *job, options.memory, judges))
    return InputAtFault;
  bool layerOnly = !options.emit.empty() && options.emit != "program";
  auto module = lower(session, choice, job->shape, layerOnly ? layers.at(options.emit) : Layer::Kernels);
  if (!module)
    return InputAtFault;
  if (options.memory && options.emit == "kernels")
    if (auto program = step::buildProgram(*module, {}); !program || !fitsInto(session, *program, options.memory))
      return InputAtFault;
  if (choice.forGpu && options.emit == "kernels") {
    OwningOpRef<ModuleOp> made = emitCudaKernels(session, *module);
    if (!made || !compileCudaKernels(session, *module, *made))
      return session.errors() ? InputAtFault : MachineLacks;
  }
  if (layerOnly) {
    module->print(llvm::outs());
    llvm::outs() << "\n";
    return Done;
  }
  if (options.emit == "program") {
    if (choice.forGpu && !emitCudaKernels(session, *module))
      return InputAtFault;
    auto program = step::buildProgram(*module, {.target = options.target, .march = {}, .features = {}});
    if (!program || !fitsInto(session, *program, options.memory))
      return InputAtFault;
    fmt::print("{}\n", reportJson(makeReport(*program), *program).dump(2));
    return Done;
  }
  return choice.forGpu ? compileForCuda(session, *module, choice, options)
                       : compileForCpu(session, *module, choice, options);
}
} // namespace

Command hocket::tools::addCompile(CLI::App &app, run::FlagRules &rules) {
  auto options = std::make_shared<CompileOptions>();
  auto *command = app.add_subcommand("compile", "model and plan to one executable");
  options->model.addTo(*command, rules);
  auto *output = command->add_option("-o,--output", options->output, "the executable")->check(notEmpty());
  auto *emit =
      command->add_option("--emit", options->emit, "print a layer instead: nn, sharded, local, step, kernels, program")
          ->check(oneOf({"nn", "sharded", "local", "step", "kernels", "program"}));
  output->excludes(emit);
  command
      ->add_option("--target", options->target, "what kernels are for: cpu, or cuda, NVIDIA GPUs from sm_80 on (cpu)")
      ->check(oneOf({"cpu", "cuda"}));
  command
      ->add_option("--epilogues", options->epilogues,
                   "library: products take bias, gelu and gradients of biases along where cublasLt can, or none "
                   "(library; --target=cuda)")
      ->check(oneOf({"library", "none"}));
  command->add_option("--march", options->march, "CPU that kernels are for (native)")
      ->check(notEmpty())
      ->check(withFaults([](const std::string &name, std::vector<std::string> &faults) {
        if (std::string error; failed(cpu::CpuTarget::find(name, error)))
          faults.push_back(error);
      }));
  addMemoryFlag(*command, options->memory, "; a plan that needs more is an error");
  command
      ->add_option("--threads", options->threads,
                   "threads of a rank; of a program for GPUs those of its host, which make initial values (1)")
      ->check(wholeNumber(1, 1024));
  options->plan.addTo(*command, rules);
  for (const char *flag : {"--march", "--threads"}) // of kernels that are made
    rules.belongs(*command, flag, {"-o"});
  rules.belongs(*command, "--epilogues", {"--target=cuda"});
  rules.look(*command, [](const run::GivenWords &given, std::vector<std::string> &faults) {
    if (!given.has("-o") && !given.has("--emit"))
      faults.push_back("neither -o OUT nor --emit LAYER is given");
    if (given.has("--march") && given.has("--target=cuda"))
      faults.push_back(
          fmt::format("{} names a CPU; --target=cuda makes kernels for all GPUs from sm_80 on", given.text("--march")));
  });
  return [options] { return compile(*options); };
}
