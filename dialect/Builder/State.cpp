// Faults, and the functions that are open.
#include "dialect/Builder/State.h"
#include "dialect/NN/VerifyEach.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"

namespace hocket::detail {

static mlir::DialectRegistry languageOfModels() {
  mlir::DialectRegistry registry;
  registry.insert<nn::NNDialect, dist::DistDialect>();
  return registry;
}

static Fault faultOf(mlir::Diagnostic &diagnostic) {
  Fault fault;
  if (auto place = diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>()) {
    fault.file = place.getFilename().str();
    fault.line = place.getLine();
    fault.column = place.getColumn();
  }
  fault.text = diagnostic.str();
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    fault.notes.push_back(faultOf(note));
  return fault;
}

State::State() : context(languageOfModels(), mlir::MLIRContext::Threading::DISABLED) {
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      told.push_back(faultOf(diagnostic));
    return mlir::success();
  });
  module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
}

mlir::Location State::at(const Where &where) {
  return mlir::FileLineColLoc::get(&context, where.file_name(), where.line(), where.column());
}

mlir::OpBuilder State::atEnd() { return mlir::OpBuilder::atBlockEnd(module->getBody()); }

std::vector<Fault> State::check() {
  std::vector<Fault> written = told;
  for (BlockInfo &block : blocks)
    if (!block.written)
      fault(block.name.where) << "block @" << block.name.text
                              << " is never called; a block has the shapes of its first call";
  llvm::SmallPtrSet<mlir::Operation *, 4> incomplete;
  for (Function &function : functions)
    if (!function.complete)
      incomplete.insert(function.op);
  nn::verifyEach(*module, [&](mlir::Operation *op) { return incomplete.contains(op); });
  std::vector<Fault> all = std::exchange(told, std::move(written));
  llvm::sort(all, [](const Fault &a, const Fault &b) {
    return std::tie(a.file, a.line, a.column, a.text) < std::tie(b.file, b.line, b.column, b.text);
  });
  return all;
}

std::string Function::text() const {
  return (mlir::isa<nn::ModelOp>(op) ? "model @" : "block @") + mlir::SymbolTable::getSymbolName(op).str();
}

// ---- uses -----------------------------------------------------------------------------------------------------------
Use::Use(const Where &where, Function *home)
    : home(home), loc(home->state->at(where)), builder(mlir::OpBuilder::atBlockEnd(home->body())) {
  checkHome(home, "the scope", std::nullopt);
}

Use::Use(const Where &where, llvm::ArrayRef<Tensor> operands)
    : home(Access::home(operands.front())), loc(home->state->at(where)),
      builder(mlir::OpBuilder::atBlockEnd(home->body())) {
  if (!home->state->open.empty()) {
    home = home->state->open.back();
    builder.setInsertionPointToEnd(home->body());
  }
  for (const Tensor &operand : operands)
    if (operand.known())
      checkHome(Access::home(operand), "a tensor", Access::value(operand).getLoc());
    else
      isSound = false;
}

void Use::checkHome(Function *found, const llvm::Twine &what, std::optional<mlir::Location> made) {
  State &state = *home->state;
  Function *open = state.open.empty() ? nullptr : state.open.back();
  if (found == open)
    return;
  auto diagnostic = fault() << "uses " << what << " of " << found->text();
  if (found->state != &state)
    diagnostic << ", which belongs to another module";
  else if (open)
    diagnostic << " in " << open->text()
               << (made ? "; a block sees only its arguments and what it makes"
                        : "; each function has a scope of its own");
  else
    diagnostic << ", which is written already";
  if (made)
    diagnostic.attachNote(*made) << "made here";
}

mlir::InFlightDiagnostic Use::fault() {
  isSound = false;
  return mlir::emitError(loc);
}
} // namespace hocket::detail
