// What stands behind the handles of the embedded language: the module that is written, the functions that are open, and
// the faults told so far. For the .cpp files of this folder; users see hocket/ only.
#pragma once
#include "dialect/Dist/Dist.h"
#include "dialect/NN/NN.h"
#include "hocket/Module.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <deque>

namespace hocket::detail {
struct ScalarBody;

/// A model or a block. `complete` once its body has a return: until then its op is no sound function.
struct Function {
  State *state;
  mlir::Operation *op;
  bool complete = false;
  mlir::Block *body() const { return &op->getRegion(0).front(); }
  /// "block @layer", for messages.
  std::string text() const;
};

/// A declared block; `written` once a call has given it shapes.
struct BlockInfo {
  State *state;
  Name name;
  std::vector<std::string> arguments;
  Function *written = nullptr;
};

struct State {
  State();
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::deque<Function> functions;
  std::deque<BlockInfo> blocks;
  std::vector<Function *> open; ///< functions that are being written, the innermost last
  std::vector<Fault> told;      ///< what verifiers say is not among them, see `check`

  mlir::Location at(const Where &where);
  mlir::InFlightDiagnostic fault(const Where &where) { return mlir::emitError(at(where)); }
  /// All faults: those told while writing, and those of every op's verifier, in the order of lines.
  std::vector<Fault> check();
  /// A builder at the end of the module.
  mlir::OpBuilder atEnd();
  /// Writes the body of `function` and its return; results and completeness are set if nothing is at fault.
  void writeBody(Function &function, const Body &body, const std::vector<Tensor> &arguments);
};

/// The way into handles.
struct Access {
  static Tensor tensor(Function *home, mlir::Value value) { return {home, value.getAsOpaquePointer()}; }
  static Tensor unknown(Function *home) { return {home, nullptr}; }
  static mlir::Value value(Tensor tensor) { return mlir::Value::getFromOpaquePointer(tensor.value); }
  static Function *home(Tensor tensor) { return tensor.home; }
  static Scope scope(Function *home) { return Scope(home); }
  template <typename Handle> static Handle named(std::string name) { return Handle(std::move(name)); }
  template <typename Handle> static const std::string &name(const Handle &handle) { return handle.name; }
  template <typename Handle> static Handle entries(State *state, mlir::Operation *op) { return Handle(state, op); }
  template <typename Handle> static mlir::Operation *op(const Handle &handle) {
    return static_cast<mlir::Operation *>(handle.op);
  }
  template <typename Handle> static State &state(const Handle &handle) { return *handle.state; }
  template <typename Handle> static Handle scalar(ScalarBody *body, mlir::Value value) {
    return Handle(body, value.getAsOpaquePointer());
  }
  template <typename Handle> static ScalarBody *body(const Handle &handle) { return handle.body; }
  template <typename Handle> static mlir::Value scalarValue(const Handle &handle) {
    return mlir::Value::getFromOpaquePointer(handle.value);
  }
};

/// One use of tensors by the user: where it stands, and whether it may be written. Not sound if an operand is not known
/// (nothing is told again) or belongs to another function than the one that is open (a fault).
class Use {
public:
  Use(const Where &where, llvm::ArrayRef<Tensor> operands);
  Use(const Where &where, Function *home);
  bool sound() const { return isSound; }
  mlir::InFlightDiagnostic fault(); ///< after it the use is not sound
  mlir::Type type(Tensor operand) const { return Access::value(operand).getType(); }
  mlir::RankedTensorType tensorType(Tensor operand) const { return mlir::cast<mlir::RankedTensorType>(type(operand)); }
  Tensor unknown() const { return Access::unknown(home); }
  Tensor tensor(mlir::Value value) const { return Access::tensor(home, value); }
  /// Writes a placed op and gives its only result.
  template <typename OpT, typename... Args> Tensor make(Args &&...args) {
    return tensor(nn::make<OpT>(builder, loc, std::forward<Args>(args)...)->getResult(0));
  }

  Function *home;
  mlir::Location loc;
  mlir::OpBuilder builder;

private:
  void checkHome(Function *found, const llvm::Twine &what, std::optional<mlir::Location> made);
  bool isSound = true;
};
} // namespace hocket::detail
