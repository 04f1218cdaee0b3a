// hocket: the compiler's command line. MLIR's own flags (--mlir-print-ir-after-all …) work beside ours.
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "runtime/Launch/FlagRules.h"
#include "runtime/Launch/OptionFaults.h"
#include "tools/hocket/Commands.h"
#include "tools/hocket/NoRoom.h"
#include "tools/hocket/Session.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <system_error>
#include <utility>
using namespace hocket::tools;

/// Takes MLIR's flags out of the command line and gives them to LLVM's parser. False after its complaints, of which it
/// prints those about values itself.
static bool takeMlirFlags(int argc, char **argv, std::vector<std::string> &ours) {
  std::vector<const char *> theirs = {argv[0]};
  for (int i = 1; i < argc; ++i)
    if (llvm::StringRef(argv[i]).starts_with("--mlir-"))
      theirs.push_back(argv[i]);
    else
      ours.push_back(argv[i]);
  std::string faults;
  llvm::raw_string_ostream stream(faults);
  bool sound = llvm::cl::ParseCommandLineOptions(theirs.size(), theirs.data(), "", &stream);
  if (!faults.empty())
    fmt::print(stderr, "error: {}", faults);
  return sound;
}

/// Said once: what fails in the middle of a command fails again when buffers are emptied.
static int cannotWrite(int error) {
  static bool said = false;
  if (!std::exchange(said, true))
    llvm::errs() << "error: cannot write to standard output: " << std::strerror(error) << '\n';
  return MachineLacks;
}

/// fmt throws where standard output takes no more.
static int runCommand(const Command &command) {
  try {
    return command();
  } catch (const std::system_error &error) {
    return cannotWrite(error.code().value());
  }
}

/// What is still in buffers is written as well, or the command has not done what it was asked.
static int finish(int status) {
  llvm::outs().flush();
  std::error_code layers = llvm::outs().error();
  llvm::outs().clear_error(); // or LLVM ends the process in its own way
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    return cannotWrite(errno ? errno : EIO);
  return layers ? cannotWrite(layers.value()) : status;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  endPlainlyWithoutRoom();
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  std::vector<std::string> ours;
  if (!takeMlirFlags(argc, argv, ours))
    return UnreadableCommandLine;

  CLI::App app("Hocket compiles a model and a plan into one executable per cluster.", "hocket");
  app.require_subcommand(1);
  hocket::run::FlagRules rules;
  std::map<std::string, Command> commands = {
      {"compile", addCompile(app, rules)},     {"check", addCheck(app, rules)},
      {"diff", addDiff(app, rules)},           {"explain", addExplain(app, rules)},
      {"interpret", addInterpret(app, rules)}, {"ckpt", addCheckpoints(app, rules)}};
  if (auto unparsed = hocket::run::parseWords(app, ours, rules))
    return hocket::run::tell(*unparsed) ? Done : UnreadableCommandLine;
  return finish(runCommand(commands.at(app.get_subcommands()[0]->get_name())));
}
