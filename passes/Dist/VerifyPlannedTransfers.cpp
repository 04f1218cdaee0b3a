// Limits what ranks send without being asked to (pass dist-verify-planned-transfers).
#include "dialect/Dist/AxesSyntax.h"
#include "passes/Dist/Megatron.h"
#include "passes/Dist/Passes.h"
#include "passes/Dist/PlannedTransfers.h"
#include <map>
using namespace mlir;

namespace hocket::dist {
#define GEN_PASS_DEF_VERIFYPLANNEDTRANSFERSPASS
#include "passes/Dist/Passes.h.inc"

namespace {
struct VerifyPlannedTransfersPass : impl::VerifyPlannedTransfersPassBase<VerifyPlannedTransfersPass> {
  using VerifyPlannedTransfersPassBase::VerifyPlannedTransfersPassBase;

  void runOnOperation() override {
    if (failed(forEachPlannedStep(getOperation(),
                                  [this](auto step, PlanOp plan, MeshOp mesh) { return verify(step, plan, mesh); })))
      signalPassFailure();
    markAllAnalysesPreserved();
  }

  /// Layers that are alike count as one, with what they all send.
  struct Alike {
    const PlannedTransfer *first;
    int64_t times = 0;
    double bytes = 0;
  };

  LogicalResult verify(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh) {
    SmallVector<PlannedTransfer> transfers = transfersOf(step, plan, mesh);
    std::map<std::string, Alike> implicit;
    double bytes = 0;
    for (const PlannedTransfer &transfer : transfers) {
      if (transfer.planned)
        continue;
      Alike &alike = implicit.try_emplace(textOf(transfer), Alike{&transfer}).first->second;
      alike.times += transfer.times;
      alike.bytes += static_cast<double>(transfer.times) * transfer.sentBytes;
      bytes += static_cast<double>(transfer.times) * transfer.sentBytes;
    }
    if (bytes <= static_cast<double>(maxBytes))
      return success();
    InFlightDiagnostic diag = plan.emitOpError() << "has a rank send " << static_cast<int64_t>(bytes)
                                                 << " bytes a step that none of its tactics asks for; at most "
                                                 << maxBytes.getValue() << " are allowed";
    for (auto &[text, alike] : implicit) {
      Diagnostic &note = diag.attachNote(alike.first->op->getLoc());
      note << text << ": " << static_cast<int64_t>(alike.bytes) << " bytes in " << alike.times
           << (alike.times == 1 ? " transfer; " : " transfers; ");
      if (alike.first->remedy.empty())
        note << "no tactic removes it, for the value is needed whole";
      else
        note << "removed by " << alike.first->remedy;
    }
    return failure();
  }

  static std::string textOf(const PlannedTransfer &transfer) {
    StringRef path = nn::getPath(transfer.op);
    return (transfer.op->getName().stripDialect() + " over " + plainAxes(transfer.axes) +
            (path.empty() ? "" : " in " + starredName(path)))
        .str();
  }
};
} // namespace
} // namespace hocket::dist
