// What a program says of its values, read once: states by value, names for messages, and known padding.
#pragma once
#include "mlir/IR/AsmState.h"
#include "passes/Dist/Judge/ValueState.h"
#include <map>

namespace hocket::dist::judge {

/// What padding of one dimension holds, where a mask has set it; nothing where it may be anything.
using Padding = std::optional<double>;

class Claims {
public:
  Claims(nn::TrainingStepOp step, MeshOp mesh) : step(step), mesh(mesh) {}

  /// Reads all claims. Reports those that cannot be read: missing, of no axis of the mesh, of another local type.
  void read();

  const ValueState *of(mlir::Value value) const { return find(states, value); }
  const ValueState *ofSlot(nn::SlotOp slot) const { return find(slots, slot); }
  /// What a write says of the value that it stores; null where it says nothing.
  const ValueState *ofWrite(nn::WriteOp write) const { return find(writes, write); }
  /// Axes of a collective or an offset; nothing if they were refused.
  bool sound(AxesAttr axes) const { return mesh.sound(axes.getRefs()); }

  /// Padding of dimension `dim`, as masks and joins on the way have left it.
  Padding padding(mlir::Value value, int64_t dim) const;
  void setPadding(mlir::Value value, int64_t dim, Padding held);

  /// An error at `op`; counted.
  mlir::InFlightDiagnostic fault(mlir::Operation *op);
  bool anyFault() const { return faults; }
  /// "operand 1 (%h0_attn_proj)"
  std::string operandText(mlir::OpOperand &operand);
  std::string resultText(mlir::OpResult result);
  /// A note where `value` is made, that says what it is.
  void noteMaker(mlir::InFlightDiagnostic &diag, mlir::Value value);

  /// The slot of a kind and name; null if none is declared.
  nn::SlotOp slotNamed(nn::SlotKind kind, llvm::StringRef name) const;
  nn::TrainingStepOp getStep() const { return step; }
  const MeshAtoms &getMesh() const { return mesh; }

private:
  template <typename Map, typename Key> static const ValueState *find(const Map &map, Key key) {
    auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
  }
  void collectAxes();
  void collectAxes(mlir::Operation *op, llvm::ArrayRef<AxisRef> refs);
  void readSlot(nn::SlotOp slot);
  void readResults(mlir::Operation *op);
  std::optional<ValueState> readShard(mlir::Operation *op, mlir::Attribute said, mlir::Type type,
                                      const std::string &what);

  nn::TrainingStepOp step;
  MeshAtoms mesh;
  bool faults = false;
  llvm::DenseMap<mlir::Value, ValueState> states;
  llvm::DenseMap<mlir::Operation *, ValueState> slots, writes;
  std::map<std::pair<nn::SlotKind, llvm::StringRef>, nn::SlotOp> named;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, double> paddings;
  std::unique_ptr<mlir::AsmState> names; ///< made for the first message
};
} // namespace hocket::dist::judge
