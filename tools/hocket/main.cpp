// hocket: the compiler's command line. MLIR's own flags (--mlir-print-ir-after-all …) work beside ours.
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "tools/hocket/Commands.h"
#include "tools/hocket/Session.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include <CLI/CLI.hpp>
#include <map>
using namespace hocket::tools;

/// Takes MLIR's flags out of the command line and gives them to LLVM's parser.
static std::vector<std::string> splitOffMlirFlags(int argc, char **argv) {
  std::vector<std::string> ours;
  std::vector<const char *> theirs = {argv[0]};
  for (int i = argc - 1; i > 0; --i) // CLI11 takes arguments in reverse
    if (llvm::StringRef(argv[i]).starts_with("--mlir-"))
      theirs.push_back(argv[i]);
    else
      ours.push_back(argv[i]);
  llvm::cl::ParseCommandLineOptions(theirs.size(), theirs.data());
  return ours;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  std::vector<std::string> ours = splitOffMlirFlags(argc, argv);

  CLI::App app("Hocket compiles a model and a plan into one executable per cluster.", "hocket");
  app.require_subcommand(1);
  std::map<std::string, Command> commands = {{"compile", addCompile(app)},
                                             {"check", addCheck(app)},
                                             {"explain", addExplain(app)},
                                             {"interpret", addInterpret(app)},
                                             {"ckpt", addCheckpoints(app)}};
  try {
    app.parse(ours);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? Done : UnreadableCommandLine;
  }
  return commands.at(app.get_subcommands()[0]->get_name())();
}
