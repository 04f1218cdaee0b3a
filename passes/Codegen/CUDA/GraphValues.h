// The steps of a graph as values at one place: a row, and `lanes` columns of it. What is asked for is computed once.
#pragma once
#include "passes/Codegen/CUDA/GpuEmit.h"
#include "passes/Codegen/Graph/NeededSteps.h"

namespace hocket::cuda {
using codegen::Graph;
using codegen::KernelShape;
using codegen::NeededSteps;
using codegen::Output;
using codegen::Place;
using codegen::Ref;
using codegen::RowAccess;
using codegen::Space;
using codegen::Step;

class GraphValues {
public:
  explicit GraphValues(GpuEmit &e) : e(e) {}

  /// Begins a row: forgets everything.
  void beginRow(mlir::Value newRow);
  /// Begins `lanes` columns of the row; forgets what belongs to other columns. Null columns: only numbers of the row.
  void beginColumns(mlir::Value newColumn);
  /// What beginColumns forgets, to be put back.
  using Chunk = std::map<Ref, mlir::Value>;
  Chunk takeChunk() { return std::exchange(values, {}); }
  void resumeChunk(mlir::Value atColumn, Chunk chunk) { column = atColumn, values = std::move(chunk); }

  /// A number of each lane. Numbers of a row that are not known are computed.
  mlir::Value full(Ref ref);
  mlir::Value ofRow(Ref ref);
  mlir::Value ofColumn(Ref ref);
  void setRow(Ref ref, mlir::Value value) { rowValues[ref] = value; }
  void setColumn(Ref ref, mlir::Value value) { values[ref] = value; }
  /// Computes what a loop over the columns needs of the row, before it, so that it is not computed in each turn.
  void prepare(Ref full);

  /// Stores a Full output at this place; lanes beyond its limit are not written.
  void store(const Output &output, mlir::Value value);

private:
  mlir::Value lanesWithin(const RowAccess &access, bool &whole);
  llvm::SmallVector<mlir::Value> compute(Step *step, const Place &place, llvm::function_ref<mlir::Value(Ref)> operand);
  const RowAccess &accessOf(Step *load);

  GpuEmit &e;
  mlir::Value row, column;
  std::map<Ref, mlir::Value> rowValues, values;
  std::map<Step *, RowAccess> rows;
  std::set<Ref> prepared;
};
} // namespace hocket::cuda
