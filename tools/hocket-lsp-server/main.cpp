// hocket-lsp-server: what editors ask about model files, over standard input and output.
#include "runtime/Launch/OptionFaults.h"
#include "runtime/Launch/OptionValues.h"
#include "tools/hocket-lsp-server/Server.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Program.h"
#include <CLI/CLI.hpp>
#include <map>
using llvm::lsp::Logger;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  CLI::App app(
      "Hocket's language server: an editor starts it and speaks the Language Server Protocol on standard input "
      "and output.",
      "hocket-lsp-server");
  bool litTest = false, pretty = false;
  std::string log = "error";
  std::map<std::string, Logger::Level> levels = {
      {"error", Logger::Level::Error}, {"info", Logger::Level::Info}, {"verbose", Logger::Level::Debug}};
  app.add_flag("--lit-test", litTest,
               "messages between '// -----' lines, answers printed with line breaks, plans checked "
               "before the next message");
  app.add_flag("--pretty", pretty, "answers with line breaks");
  app.add_option("--log", log, "what goes to standard error: error, info, verbose")
      ->check(hocket::run::oneOf({"error", "info", "verbose"}));
  if (auto unparsed = hocket::run::parseWords(app, {argv + 1, argv + argc}, {}))
    return hocket::run::tell(*unparsed) ? 0 : 2;
  Logger::setLogLevel(levels.at(log));
  (void)llvm::sys::ChangeStdinToBinary();
  llvm::lsp::JSONTransport transport(
      stdin, llvm::outs(), litTest ? llvm::lsp::JSONStreamStyle::Delimited : llvm::lsp::JSONStreamStyle::Standard,
      litTest || pretty);
  return hocket::lsp::serve(transport, /*beside=*/!litTest);
}
