// See ModelFile.h.
#include "tools/hocket/ModelFile.h"
#include "runtime/Launch/FlagRules.h"
#include "tools/CommandLine.h"
#include "tools/hocket/InputText.h"
#include "tools/hocket/Installation.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
using namespace hocket;
using namespace hocket::tools;
namespace sys = llvm::sys;

static bool isCpp(llvm::StringRef path) {
  llvm::StringRef extension = sys::path::extension(path);
  return extension == ".cpp" || extension == ".cc" || extension == ".cxx";
}

void ModelFile::addTo(CLI::App &command, hocket::run::FlagRules &rules, bool required) {
  command.add_option("MODEL", path, "model file, or a C++ program that writes one")
      ->required(required)
      ->check(notEmpty());
  command
      .add_option("--set", settings,
                  "NAME=VALUE: an argument of a model written in C++ (--set layers=8); may be repeated")
      ->type_size(1)
      ->expected(1)
      ->take_all()
      ->check(withFaults([](const std::string &text, std::vector<std::string> &faults) {
        if (size_t equals = text.find('='); equals == std::string::npos || equals == 0)
          faults.push_back(fmt::format("'{}' is not NAME=VALUE", text));
      }));
  rules.look(command, [](const run::GivenWords &given, std::vector<std::string> &faults) {
    std::vector<std::string> models = given.values("MODEL");
    if (given.has("--set") && !models.empty() && !isCpp(models.front()))
      faults.push_back(
          fmt::format("{} is an argument of a model in C++, and '{}' is none", given.text("--set"), models.front()));
  });
}

/// Runs a program whose output, of either kind, is for the user: all of it goes to standard error. Its exit status; -1,
/// and `error`, if it cannot be run.
static int runForUser(llvm::ArrayRef<std::string> words, std::string &error) {
  llvm::SmallVector<llvm::StringRef> refs(words.begin(), words.end());
  std::optional<llvm::StringRef> streams[] = {std::nullopt, llvm::StringRef("/dev/stderr"), std::nullopt};
  return sys::ExecuteAndWait(refs.front(), refs, std::nullopt, streams, 0, 0, &error);
}

/// Builds the program and runs it; the text it wrote is in `output`. False after a report.
static bool writeFromCpp(Session &session, const ModelFile &model, llvm::StringRef program, llvm::StringRef output) {
  std::optional<std::vector<std::string>> build = buildCommand(session, model.path, program.str());
  if (!build)
    return false;
  std::string error;
  if (int status = runForUser(*build, error)) {
    session.error(fmt::format("'{}' does not compile{}", model.path,
                              status < 0 ? ": " + error : "; what the C++ compiler found stands above"));
    return false;
  }
  std::vector<std::string> run = {program.str(), "-o", output.str()};
  for (const std::string &setting : model.settings)
    run.push_back("--" + setting);
  int status = runForUser(run, error);
  if (status == UnreadableCommandLine) {
    session.commandLineError(fmt::format("'{}' does not take its --set; what is wrong stands above", model.path));
    return false;
  }
  if (status) {
    session.error(fmt::format("'{}' wrote no model{}", model.path,
                              status < 0 ? ": its program ended by a signal or could not be started: " + error
                                         : "; what is wrong stands above"));
    return false;
  }
  uint64_t size = 0;
  if (sys::fs::file_size(output, size) || size == 0) {
    session.error(
        fmt::format("'{}' wrote no model; its main function is to return what hocket::main returns", model.path));
    return false;
  }
  return true;
}

bool hocket::tools::loadModel(Session &session, const ModelFile &model) {
  if (!isCpp(model.path))
    return session.load(model.path);
  if (std::string why; !readInput(model.path, why)) {
    session.error(fmt::format("cannot read '{}': {}", model.path, why));
    return false;
  }
  llvm::SmallString<128> program, output;
  if (sys::fs::createTemporaryFile("hocket-model", "", program) ||
      sys::fs::createTemporaryFile("hocket-model", "mlir", output)) {
    session.error("cannot write to the folder of temporary files");
    return false;
  }
  llvm::FileRemover removeProgram(program), removeOutput(output);
  return writeFromCpp(session, model, program, output) && session.load(std::string(output));
}
