// A kernel over rows x columns as a graph of small steps, each of one space (see KernelShape.h): what to load, compute,
// reduce along a row or down the columns, and store. The ops of nn and step become such steps; each target's RowEmitter
// writes the loops.
//
// A step computes the same whichever steps stand around it: products and sums are contracted inside one step only, and
// a reduction has its own lanes. So a different grouping of ops into kernels gives the same bits.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Codegen/Fusion/KernelShape.h"
#include "passes/Codegen/Graph/Emit.h"
#include <deque>
#include <functional>

namespace hocket::codegen {
/// Where a step is computed: one row (Row), `lanes` columns from `column` on (Column), or both (Full). `mask`: the
/// lanes there are, null for all.
struct Place {
  mlir::Value row, column, mask;
};
/// Where a row of a step's operand lies: base[offset + column]; from column `limit` on (null: nowhere) it reads zero,
/// or is not written.
struct RowAccess {
  mlir::Value base, offset, limit;
};
using FindRow = std::function<RowAccess(Emit &, mlir::Value row)>;
using Compute = std::function<llvm::SmallVector<mlir::Value>(Emit &, const Place &, mlir::ValueRange operands)>;

struct Step;
struct Ref {
  Step *step = nullptr;
  unsigned result = 0;
  bool operator<(const Ref &other) const { return std::tie(step, result) < std::tie(other.step, other.result); }
};

struct Step {
  enum Kind : uint8_t {
    Load,   ///< Full: a row by `findRow`. Column: element `column` of `base`. Row: by `compute`
    Map,    ///< by `compute`
    Reduce, ///< operand Full, result Row
    Sum     ///< operand Full, result Column: added over the rows in order
  } kind;
  Space space;
  mlir::Type element; ///< of a load (as memory holds it), a reduction (as it is added), a rounding (to what)
  llvm::SmallVector<Ref> operands;
  FindRow findRow;
  mlir::Value base;
  Compute compute;
  Reduction reduction = Reduction::Sum;
  /// Loops over the columns of one row come one after another; a Full step is computed in loop `stage`, a Row step is
  /// known before loop `stage`. What follows a reduction is one stage later.
  int stage = 0;
  /// A Full map that costs less to compute again in a later loop than to keep.
  bool cheap = false;
  bool rounds = false; ///< a map to the nearest number of a narrow element type
};

struct Output {
  Ref value;
  mlir::Type element; ///< as memory holds it
  Space space;
  mlir::Value base;
  FindRow findRow; ///< Full only
};

class Graph {
public:
  Graph(mlir::func::FuncOp kernel, const KernelShape &shape, mlir::ValueRange buffers, mlir::ValueRange scalars);
  /// Builds the steps of every op. An op without a meaning here is a fault of the compiler and is reported.
  mlir::LogicalResult build();

  const KernelShape &getShape() const { return shape; }
  llvm::ArrayRef<Output> getOutputs() const { return outputs; }
  /// True if the kernel reads whole rows (it cannot be cut along the columns) or adds over rows (nor along the rows).
  bool hasRowReductions() const;
  bool hasColumnSums() const;

  // ---- used by the rules of single ops
  Ref read(mlir::Operation *op, unsigned operand); ///< as operandSpace says
  Ref map(Space space, llvm::ArrayRef<Ref> operands, Compute compute);
  Ref map(Space space, llvm::ArrayRef<Ref> operands, std::function<mlir::Value(Emit &, mlir::ValueRange)> compute);
  Ref cheap(Ref full) { return full.step->cheap = true, full; }
  Ref reduce(Reduction kind, Ref full, mlir::Type element);
  Ref sum(Ref full, mlir::Type element);
  Ref loadRows(mlir::Type element, FindRow findRow);
  Ref loadOfRow(mlir::Type element, Compute compute);
  /// `ref` is the meaning of a result of an op, once it is rounded to the result's element type. Values of a graph are
  /// of scalarType; what an op makes is rounded even where the next op is in the same kernel.
  void define(mlir::Value value, Ref ref);
  /// The buffer of a value made outside of the kernel; the number of an i64 operand.
  mlir::Value bufferOf(mlir::Value value) const { return buffers.lookup(value); }
  mlir::Value scalarOf(mlir::Value value) const { return scalars.lookup(value); }
  /// The buffers of a result of the kernel (a value may be returned more than once).
  llvm::SmallVector<mlir::Value> resultBuffers(mlir::Value value) const;
  void output(Ref value, mlir::Type element, Space space, mlir::Value base, FindRow findRow);

private:
  Ref load(mlir::Value value, Space space);
  Step *make(Step::Kind kind, Space space);
  mlir::LogicalResult buildOp(mlir::Operation *op);

  mlir::func::FuncOp kernel;
  const KernelShape &shape;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers, scalars;
  llvm::SmallVector<mlir::Value> results;
  llvm::DenseMap<mlir::Value, Ref> refs;
  llvm::DenseMap<std::pair<mlir::Value, int>, Ref> loads;
  std::deque<Step> steps;
  llvm::SmallVector<Output> outputs;
};

// ---- the rules of single ops; each defines the results of `op`, and fails if it has no rule for it
mlir::LogicalResult buildActivationRule(Graph &graph, mlir::Operation *op); // before buildElementRule
mlir::LogicalResult buildElementRule(Graph &graph, mlir::Operation *op);
mlir::LogicalResult buildNormRule(Graph &graph, mlir::Operation *op);
mlir::LogicalResult buildRowRule(Graph &graph, mlir::Operation *op);
mlir::LogicalResult buildMoveRule(Graph &graph, mlir::Operation *op);
mlir::LogicalResult buildJoinRule(Graph &graph, mlir::Operation *op);
mlir::LogicalResult buildDropoutRule(Graph &graph, mlir::Operation *op);
mlir::LogicalResult buildOptimizerRule(Graph &graph, mlir::Operation *op);
} // namespace hocket::codegen
