// Splits that tactics ask of ops and not of slots, once those of the slots have settled:
//   sequence over tp            (Korthikanti et al. 2022, section 4.2.2) the sequence of ops that do not use tp
//   context over cp all_to_all  (Jacobs et al. 2023) heads, within attention, instead of the sequence
#include "passes/Dist/DimensionClasses.h"
#include "passes/Dist/Propagation.h"
#include "passes/Dist/SequenceDimensions.h"
#include "passes/Dist/Tactics.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::dist {

static bool isAttention(Operation *op) { return isa<nn::AttentionOp, nn::AttentionGradOp>(op); }

/// The context tactic, if heads are to be split instead of the sequence within attention.
static ContextOp headsInstead(PlanOp plan) {
  auto context = plan ? plan.tactic<ContextOp>() : ContextOp();
  return context && context.getKind() == ContextKind::AllToAll ? context : ContextOp();
}

void Propagation::closeAttention(PlanOp plan) {
  ContextOp context = headsInstead(plan);
  if (!context)
    return;
  Atoms over = atoms.fromRefs(context.getAxes().getRefs());
  for (auto [index, op] : llvm::enumerate(graph->ops))
    if (isAttention(op.op))
      closed[static_cast<int>(index)] = {op.rule.find("s"), over};
}

bool Propagation::isClosed(int op, int factor, Atom atom) const {
  auto at = closed.find(op);
  return at != closed.end() && at->second.first == factor && llvm::is_contained(at->second.second, atom);
}

SmallVector<AxisRef> Propagation::cutsForHeads(PlanOp plan) const {
  SmallVector<AxisRef> cuts;
  for (auto &[index, what] : closed) {
    const StepOp &op = graph->ops[index];
    int kv = op.rule.find("kv");
    if (kv < 0)
      continue;
    int64_t left = op.rule.factors[kv].size / atoms.size(factors[index][kv]);
    for (const AxisRef &ref : headsInstead(plan).getAxes().getRefs()) {
      int64_t size = axisSize(atoms.getMesh(), ref);
      if (left % size != 0 && left > 1 && size % left == 0)
        cuts.append({AxisRef{ref.name, ref.pre, left}, AxisRef{ref.name, ref.pre * left, size / left}});
      left = left % size == 0 ? left / size : 1;
    }
    if (!cuts.empty())
      break;
  }
  return cuts;
}

/// Heads take the axes behind those that they have: KV heads first, then, where these run out, the query heads of each.
LogicalResult Propagation::splitHeads(PlanOp plan) {
  ContextOp context = headsInstead(plan);
  if (!context)
    return success();
  std::string refused;
  for (auto &[index, what] : closed) {
    const StepOp &op = graph->ops[index];
    int kv = op.rule.find("kv"), group = op.rule.find("g"), heads = kv < 0 ? op.rule.find("n") : kv;
    int64_t before = atoms.size(factors[index][heads]), left = op.rule.factors[heads].size / before;
    int64_t beforeGroup = group < 0 ? 1 : atoms.size(factors[index][group]);
    int64_t leftGroup = group < 0 ? 1 : op.rule.factors[group].size / beforeGroup;
    for (Atom atom : what.second) {
      int64_t size = atoms.size(atom);
      bool isGroup = left % size != 0;
      if (isGroup && (left != 1 || leftGroup % size != 0)) {
        refuseHeads(context, op.op, op.rule.factors[heads].size, group < 0 ? 1 : op.rule.factors[group].size,
                    before * beforeGroup, refused);
        break;
      }
      factors[index][isGroup ? group : heads].push_back(atom);
      (isGroup ? leftGroup : left) /= size;
    }
  }
  return success(refused.empty());
}

/// One message for each number of heads.
void Propagation::refuseHeads(ContextOp context, Operation *op, int64_t kvHeads, int64_t groups, int64_t others,
                              std::string &refused) const {
  int64_t heads = kvHeads * groups, degree = axesSize(getAtoms().getMesh(), context.getAxes().getRefs());
  std::string what = headsText(heads, kvHeads);
  if (!refused.empty())
    return;
  refused = what;
  SmallVector<int64_t> legal;
  for (int64_t all : legalDegrees(heads, kvHeads))
    if (all % others == 0)
      legal.push_back(all / others);
  InFlightDiagnostic diag = context.emitOpError()
                            << "cannot split " << what << " over " << plainAxes(context.getAxes().getRefs()) << ", "
                            << degree << " ranks";
  if (others > 1)
    diag << " (other tactics split them over " << others << ")";
  diag << "; legal degrees: " << degreesText(legal) << "; `ring` and `all_gather` have no such limit";
  diag.attachNote(op->getLoc()) << "heads are those of this attention";
}

/// Ops of a microbatch that have a sequence and something beside it, and use none of the axes; manual regions use their
/// own.
void Propagation::splitSequences(PlanOp plan, ArrayRef<int> ops) {
  auto sequence = plan ? plan.tactic<SequenceOp>() : SequenceOp();
  if (!sequence)
    return;
  Atoms over = atoms.fromRefs(sequence.getAxes().getRefs());
  if (over.empty())
    return;
  SequenceDimensions dimensions(*graph);
  for (int index : ops) {
    const StepOp &op = graph->ops[index];
    if (op.region != &nn::TrainingStepOp(graph->step).getMicrobatch())
      continue;
    // A sum of what is partial over these axes stays partial, to be joined once.
    for (Atom atom : staysPartial(op))
      if (llvm::is_contained(over, atom))
        passed[index].push_back(atom);
    bool used = llvm::any_of(over, [&](Atom atom) {
      return contains(factors[index], atom) || llvm::is_contained(passed[index], atom) ||
             llvm::is_contained(owned[index], atom);
    });
    if (int factor = dimensions.ofOp(op); !used && factor >= 0)
      factors[index][factor].append(over);
  }
}
} // namespace hocket::dist
