// One model file in memory: reads it, checks it, and counts every fault that anyone reports.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class SourceMgrDiagnosticHandler;
}

namespace hocket::tools {

/// Exit statuses of every tool.
enum Status : int { Done = 0, InputAtFault = 1, UnreadableCommandLine = 2, RankFailed = 3, MachineLacks = 4 };

class Session {
public:
  Session();
  ~Session();

  /// Parses without verifying. False after a report: no such file, syntax.
  bool load(const std::string &path);
  /// Adds ops written as text (a plan made from flags). False after a report.
  bool add(const std::string &text, const std::string &source);
  /// Verifies op by op and reports every fault. False if there was one.
  bool verify();

  mlir::ModuleOp module() { return *parsed; }
  mlir::MLIRContext &context() { return *mlirContext; }
  /// Errors reported so far.
  unsigned errors() const { return faultList.size(); }
  /// A sentence and where it points: "model.mlir:12:8", "" for no place. Notes are the other parties.
  struct Message {
    std::string place, text;
  };
  struct Fault : Message {
    std::vector<Message> notes;
    std::optional<mlir::Location> loc;
  };
  const std::vector<Fault> &faults() const { return faultList; }
  /// An error without a place, in the same form as the others.
  void error(const std::string &text);

private:
  std::unique_ptr<mlir::MLIRContext> mlirContext;
  llvm::SourceMgr sources;
  std::unique_ptr<mlir::SourceMgrDiagnosticHandler> printer;
  mlir::OwningOpRef<mlir::ModuleOp> parsed;
  std::vector<Fault> faultList;
};
} // namespace hocket::tools
