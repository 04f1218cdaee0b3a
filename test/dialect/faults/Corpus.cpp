// Reads the corpus; tells what stopped the program.
#include "test/dialect/faults/Corpus.h"
#include "dialect/NN/NN.h"
#include "dialect/NN/VerifyEach.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tools/Dialects.h"
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>
using namespace mlir;

namespace hocket::testing {

std::vector<Piece> pieces(bool invalid) {
  std::vector<std::filesystem::path> files;
  for (auto &entry : std::filesystem::recursive_directory_iterator(HOCKET_TEXTS))
    if (entry.path().extension() == ".mlir" &&
        (invalid || entry.path().stem().string().find("-invalid") == std::string::npos))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Piece> all;
  for (const auto &file : files) {
    std::ostringstream whole;
    whole << std::ifstream(file).rdbuf();
    std::string text = whole.str(), mark = "// -----";
    for (size_t at = 0; at != std::string::npos;) {
      size_t end = text.find(mark, at);
      all.push_back({file.filename().string(), text.substr(at, end - at)});
      at = end == std::string::npos ? end : text.find('\n', end);
    }
  }
  return all;
}

QuietContext::QuietContext() {
  DialectRegistry registry;
  registerDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  context.disableMultithreading();
  context.getDiagEngine().registerHandler([this](Diagnostic &) {
    ++faults;
    return success();
  });
}

OwningOpRef<ModuleOp> QuietContext::parse(const std::string &text) {
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  return parseSourceString<ModuleOp>(text, config);
}

bool QuietContext::examine(ModuleOp module) {
  bool sound = true;
  nn::verifyEach(module, [](Operation *) { return false; });
  module.walk([&](Operation *op) {
    if (isa<ModuleOp>(op) || failed(op->getName().verifyInvariants(op)))
      sound &= isa<ModuleOp>(op);
    else if (auto factors = dyn_cast<nn::FactorOpInterface>(op); factors && succeeded(mlir::verify(op)))
      (void)nn::checkFactorRule(op, factors.getFactorRule());
  });
  return sound;
}

static std::string current;
static void tell(int signal) {
  (void)!::write(2, current.data(), current.size());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}
void workingOn(std::string what) {
  static bool first = true;
  if (first)
    for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL})
      std::signal(signal, tell);
  first = false;
  current = std::move(what) + "\n";
}

int64_t drawsOf(int64_t draws) { return std::getenv("HOCKET_LONG") ? 20 * draws : draws; }
} // namespace hocket::testing
