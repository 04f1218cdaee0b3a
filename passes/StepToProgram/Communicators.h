// The communicators of a job: one for each group of mesh axes and stream that is used on it, and one for each directed
// pipeline edge, in one fixed order. Streams have communicators of their own because the calls on one communicator are
// in one order, and belong to one thread.
#pragma once
#include "dialect/Step/Step.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Program/program_generated.h"

namespace hocket::step {

class Communicators {
public:
  /// Groups in the order in which the programs, stage by stage, first use them; then edges by (lower stage, downwards
  /// first).
  Communicators(llvm::ArrayRef<ProgramOp> programs, dist::MeshOp mesh, int stageAxis);

  uint32_t group(CollectiveOp collective) const;
  uint32_t edge(unsigned from, unsigned to) const;
  program::AxisRef convert(const dist::AxisRef &ref) const;
  /// Axes and sub-axes of size one are left out.
  std::vector<program::AxisRef> convert(llvm::ArrayRef<dist::AxisRef> refs) const;
  std::vector<std::unique_ptr<program::CommunicatorT>> take() { return std::move(list); }

private:
  /// `{"dp", "tp"}`, `"pp" at 0 3`, `"dp" on gradients`
  static std::string groupName(CollectiveOp collective);
  static std::string edgeName(unsigned from, unsigned to);

  mutable dist::MeshOp mesh;
  std::vector<std::unique_ptr<program::CommunicatorT>> list;
  llvm::StringMap<uint32_t> index;
};
} // namespace hocket::step
