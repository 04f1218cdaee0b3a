// See Session.h.
#include "tools/hocket/Session.h"
#include "dialect/NN/VerifyEach.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "passes/StepToProgram/ProgramStrings.h"
#include "tools/Dialects.h"
#include "tools/hocket/FileContents.h"
#include "tools/hocket/InputText.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

static Session::Message messageOf(Diagnostic &diagnostic) {
  return {step::sourceOf(diagnostic.getLocation()), diagnostic.str(), diagnostic.getLocation()};
}

template <typename SamePlace>
static bool sameFault(const Session::Fault &a, const Session::Fault &b, SamePlace samePlace) {
  auto same = [&](const Session::Message &x, const Session::Message &y) { return samePlace(x, y) && x.text == y.text; };
  return same(a, b) && std::equal(a.notes.begin(), a.notes.end(), b.notes.begin(), b.notes.end(), same);
}

static bool atSameLoc(const Session::Message &a, const Session::Message &b) { return a.loc == b.loc; }
/// Of two sessions: locations are each session's own.
static bool atSameText(const Session::Message &a, const Session::Message &b) { return a.place == b.place; }

static constexpr int deepestNesting = 256;

/// Brackets in strings and comments do not count.
bool hocket::tools::nestedTooDeep(StringRef text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        i += text[i] == '\\';
    } else if (text[i] == '/' && text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
    } else if (StringRef("([{<").contains(text[i])) {
      if (++depth > deepestNesting)
        return true;
    } else if (StringRef(")]}").contains(text[i]) || (text[i] == '>' && i > 0 && text[i - 1] != '-')) {
      depth = std::max(0, depth - 1);
    }
  return false;
}

Session::Session(Printing printing) : printing(printing) {
  DialectRegistry registry;
  registerDialects(registry);
  mlirContext = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  mlirContext->printOpOnDiagnostic(false);
  if (printing == Printing::Stderr)
    printer = std::make_unique<SourceMgrDiagnosticHandler>(sources, mlirContext.get());
  mlirContext->getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      Fault fault{messageOf(diagnostic), {}};
      for (Diagnostic &note : diagnostic.getNotes())
        fault.notes.push_back(messageOf(note));
      if (llvm::any_of(faultList, [&](const Fault &other) { return sameFault(fault, other, atSameLoc); }))
        return success(); // a fault of the model, found again under another plan
      bool told = isTold(fault);
      faultList.push_back(std::move(fault));
      if (told)
        return success();
    }
    return success(!printer); // kept; a printer comes next
  });
}
Session::~Session() = default;

bool Session::isTold(const Fault &fault) const {
  return llvm::any_of(told, [&](const Fault &other) { return sameFault(fault, other, atSameText); });
}

void Session::error(const std::string &text) {
  Fault fault{{"", text, std::nullopt}, {}};
  if (printing == Printing::Stderr && !isTold(fault))
    llvm::errs() << "error: " << text << '\n';
  faultList.push_back(std::move(fault));
}

/// What it is, of a path that might be read without end: a device, or a named pipe that nobody writes to. "" of others.
static StringRef endless(StringRef path) {
  llvm::sys::fs::file_status status;
  if (isOpened(path.str()) || llvm::sys::fs::status(path, status))
    return "";
  switch (status.type()) {
  case llvm::sys::fs::file_type::character_file:
  case llvm::sys::fs::file_type::block_file:
    return "a device";
  case llvm::sys::fs::file_type::fifo_file:
    return "a named pipe";
  default:
    return "";
  }
}

bool Session::load(const std::string &path) {
  if (StringRef what = endless(path); !what.empty()) {
    error("cannot read '" + path + "': it is " + what.str() + ", expected a file, or - for standard input");
    return false;
  }
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!file) {
    error("cannot read '" + path + "': " + file.getError().message());
    return false;
  }
  return parse(std::move(*file), nullptr);
}

bool Session::loadText(StringRef text, const std::string &name, AsmParserState *places) {
  return parse(llvm::MemoryBuffer::getMemBufferCopy(text, name), places);
}

StringRef Session::text() const { return sources.getMemoryBuffer(sources.getMainFileID())->getBuffer(); }

bool Session::parse(std::unique_ptr<llvm::MemoryBuffer> file, AsmParserState *places) {
  std::string name = file->getBufferIdentifier().str();
  bool binary = file->getBuffer().contains('\0'), tooDeep = nestedTooDeep(file->getBuffer());
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  if (binary) {
    error("'" + name + "' is a binary file; a model is text, or a C++ program given as its .cpp");
    return false;
  }
  if (tooDeep) {
    error("'" + name + "' nests brackets deeper than " + std::to_string(deepestNesting));
    return false;
  }
  ParserConfig config(mlirContext.get(), /*verifyAfterParse=*/false);
  if (!places) {
    parsed = parseSourceFile<ModuleOp>(sources, config);
    return static_cast<bool>(parsed);
  }
  parsed = ModuleOp::create(FileLineColLoc::get(mlirContext.get(), name, 1, 1));
  if (failed(parseAsmSourceFile(sources, parsed->getBody(), config, places))) {
    parsed = nullptr;
    return false;
  }
  // A file of one `module` is that module.
  Block *body = parsed->getBody();
  if (auto inner = body->empty() ? ModuleOp() : dyn_cast<ModuleOp>(body->front());
      inner && body->getOperations().size() == 1) {
    inner->remove();
    parsed = inner;
  }
  return true;
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
  checkFileContents(*this);
  nn::verifyEach(*parsed);
  if (errors() == before) // values used before or outside of where they are made
    (void)mlir::verify(*parsed);
  return errors() == before;
}
