#include "tools/hocket/Session.h"
#include "dialect/NN/VerifyEach.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "passes/StepToProgram/ProgramStrings.h"
#include "tools/Dialects.h"
#include "llvm/Support/MemoryBuffer.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

static Session::Message messageOf(Diagnostic &diagnostic) {
  return {step::sourceOf(diagnostic.getLocation()), diagnostic.str()};
}

Session::Session() {
  DialectRegistry registry;
  registerDialects(registry);
  mlirContext = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  mlirContext->printOpOnDiagnostic(false);
  printer = std::make_unique<SourceMgrDiagnosticHandler>(sources, mlirContext.get());
  mlirContext->getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      Fault fault{messageOf(diagnostic), {}, diagnostic.getLocation()};
      for (Diagnostic &note : diagnostic.getNotes())
        fault.notes.push_back(messageOf(note));
      faultList.push_back(std::move(fault));
    }
    return failure(); // kept, not handled: the printer comes next
  });
}
Session::~Session() = default;

void Session::error(const std::string &text) {
  llvm::errs() << "error: " << text << '\n';
  faultList.push_back({{"", text}, {}, std::nullopt});
}

bool Session::load(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!file) {
    error("cannot read '" + path + "': " + file.getError().message());
    return false;
  }
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  parsed = parseSourceFile<ModuleOp>(sources, ParserConfig(mlirContext.get(), /*verifyAfterParse=*/false));
  return static_cast<bool>(parsed);
}

bool Session::add(const std::string &text, const std::string &source) {
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(mlirContext.get(), /*verifyAfterParse=*/false), source);
  if (!module)
    return false;
  for (Operation &op : llvm::make_early_inc_range(*module->getBody())) {
    op.remove();
    parsed->getBody()->push_back(&op);
  }
  return true;
}

bool Session::verify() {
  unsigned before = errors();
  nn::verifyEach(*parsed);
  return errors() == before;
}
