// One model file in memory: reads it, checks it, and counts every fault that anyone reports.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class AsmParserState;
class SourceMgrDiagnosticHandler;
} // namespace mlir

namespace hocket::tools {

/// Exit statuses of every tool.
enum Status : int { Done = 0, InputAtFault = 1, UnreadableCommandLine = 2, RankFailed = 3, MachineLacks = 4 };

/// True if brackets are nested so deep that the parser, which recurses into them, could run out of stack. No model is.
bool nestedTooDeep(llvm::StringRef text);

class Session {
public:
  /// Where faults go beside the list: to stderr with the line they point at, or nowhere (an editor shows the list).
  enum class Printing { Stderr, None };
  explicit Session(Printing printing = Printing::Stderr);
  ~Session();

  /// Parses without verifying. False after a report: no such file, syntax.
  bool load(const std::string &path);
  /// The same with the text given; messages speak of it as `name`. `places`: filled with where everything stands; its
  /// pointers are into `text()` and live as long as the session.
  bool loadText(llvm::StringRef text, const std::string &name, mlir::AsmParserState *places = nullptr);
  /// Adds ops written as text (a plan made from flags). False after a report.
  bool add(const std::string &text, const std::string &source);
  /// Verifies op by op and reports every fault. False if there was one.
  bool verify();

  bool loaded() const { return static_cast<bool>(parsed); }
  mlir::ModuleOp module() { return *parsed; }
  /// What was loaded, as the session keeps it.
  llvm::StringRef text() const;
  mlir::MLIRContext &context() { return *mlirContext; }
  /// Errors reported so far.
  unsigned errors() const { return faultList.size(); }
  /// A sentence and where it points: "model.mlir:12:8", "" for no place. Notes are the other parties.
  struct Message {
    std::string place, text;
    std::optional<mlir::Location> loc;
  };
  struct Fault : Message {
    std::vector<Message> notes;
  };
  const std::vector<Fault> &faults() const { return faultList; }
  /// Faults that another session of the same file has printed: kept here too, and not printed again.
  void haveTold(const std::vector<Fault> &faults) { told = faults; }
  /// An error without a place, in the same form as the others.
  void error(const std::string &text);
  /// One of the command line: words that a model's program does not take.
  void commandLineError(const std::string &text) {
    ending = UnreadableCommandLine;
    error(text);
  }
  /// How a command ends that faults keep from going on.
  Status failure() const { return ending; }

private:
  bool isTold(const Fault &fault) const;
  bool parse(std::unique_ptr<llvm::MemoryBuffer> file, mlir::AsmParserState *places);

  Printing printing;
  std::unique_ptr<mlir::MLIRContext> mlirContext;
  llvm::SourceMgr sources;
  std::unique_ptr<mlir::SourceMgrDiagnosticHandler> printer;
  mlir::OwningOpRef<mlir::ModuleOp> parsed;
  std::vector<Fault> faultList, told;
  Status ending = InputAtFault;
};
} // namespace hocket::tools
