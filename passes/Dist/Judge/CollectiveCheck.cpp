// What collectives, slices and masks make of a state.
#include "passes/Dist/Judge/CollectiveCheck.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
using namespace mlir;

namespace hocket::dist::judge {
namespace {
/// One operand of one collective. Each step changes `state`, or reports why it may not; afterwards the claim is
/// compared.
class Transfer {
public:
  Transfer(Claims &claims, OpOperand &operand, AxesAttr axes)
      : claims(claims), mesh(claims.getMesh()), op(operand.getOwner()), operand(operand),
        cuts(mesh.cuts(axes.getRefs())), atoms(flat(cuts)), state(*claims.of(operand.get())),
        padding(static_cast<size_t>(state.rank())) {
    for (int64_t dim = 0; dim < state.rank(); ++dim)
      padding[dim] = claims.padding(operand.get(), dim);
  }

  void join(Reduction reduction);
  void scatter(int64_t dim);
  void take(int64_t dim);
  void gather(int64_t dim);
  void mask(MaskOp mask);
  void finish(OpResult result);

private:
  InFlightDiagnostic refuse() {
    sound = false;
    return claims.fault(op);
  }
  void note(InFlightDiagnostic &diag) { claims.noteMaker(diag, operand.get()); }
  void append(int64_t dim) {
    llvm::append_range(state.dims[dim], cuts);
    padding[dim] = Padding();
  }
  /// Those of the axes that `state` is split, whole or partial over.
  template <typename Predicate> Atoms select(Predicate predicate) const {
    Atoms chosen;
    llvm::copy_if(atoms, std::back_inserter(chosen), predicate);
    return chosen;
  }
  std::string what() { return claims.operandText(operand); }

  Claims &claims;
  const MeshAtoms &mesh;
  Operation *op;
  OpOperand &operand;
  Cuts cuts;
  Atoms atoms;
  ValueState state;
  SmallVector<Padding> padding;
  bool sound = true;
};

/// C16: joins what is partial, over exactly these axes, as it is to be joined.
void Transfer::join(Reduction reduction) {
  Atoms split = select([&](const Atom &atom) { return state.splitBy(atom) >= 0; });
  Atoms whole = select([&](const Atom &atom) { return state.splitBy(atom) < 0 && !state.isPartialOver(atom); });
  if (!split.empty()) {
    InFlightDiagnostic diag = refuse();
    diag << "joins " << what() << " over " << mesh.text(split) << ", which splits its dimension "
         << state.splitBy(split.front()) << "; ranks along it hold different elements, not summands";
    note(diag);
  }
  if (!whole.empty()) {
    InFlightDiagnostic diag = refuse();
    diag << "joins " << what() << " over " << mesh.text(whole) << ", over which it is not partial (it is "
         << describe(mesh, state) << "); a sum would count it " << sizeOf(whole) << " times";
    note(diag);
  }
  Atoms joined = select([&](const Atom &atom) { return state.isPartialOver(atom); });
  if (!joined.empty() && state.reduction != reduction) {
    InFlightDiagnostic diag = refuse();
    diag << "joins " << what() << " by " << stringifyReduction(reduction) << ", but it is "
         << describePartial(mesh, state);
    note(diag);
  }
  llvm::erase_if(state.partial, [&](const Atom &atom) { return llvm::is_contained(atoms, atom); });
  if (state.partial.empty())
    state.reduction = Reduction::Sum;
  // Joined padding is what a mask set where that is neutral: 0 + 0, max of -inf and -inf.
  double neutral = reduction == Reduction::Sum ? 0 : reduction == Reduction::Max ? -INFINITY : INFINITY;
  for (Padding &held : padding)
    if (held && *held != neutral)
      held = Padding();
}

void Transfer::scatter(int64_t dim) { append(dim); }

/// C18: a shard of a dimension that is whole over the axes, on ranks that all hold it.
void Transfer::take(int64_t dim) {
  Atoms split = select([&](const Atom &atom) { return state.splitBy(atom) >= 0; });
  Atoms partial = select([&](const Atom &atom) { return state.isPartialOver(atom); });
  if (!split.empty()) {
    InFlightDiagnostic diag = refuse();
    diag << "splits " << what() << " over " << mesh.text(split) << ", which splits its dimension "
         << state.splitBy(split.front()) << " already";
    note(diag);
  }
  if (!partial.empty()) {
    InFlightDiagnostic diag = refuse();
    diag << "splits " << what() << " over " << mesh.text(partial)
         << ", over which it is partial; summands on other ranks would be lost, so it must be joined before";
    note(diag);
  }
  append(dim);
}

/// C17: the axes are the last ones of the dimension, in that order, and cuts stay whole where shards are uneven.
void Transfer::gather(int64_t dim) {
  Cuts &all = state.dims[dim];
  Atoms now = flat(all);
  if (now.size() < atoms.size() || ArrayRef(now).take_back(atoms.size()) != ArrayRef(atoms)) {
    InFlightDiagnostic diag = refuse();
    diag << "gathers dimension " << dim << " of " << what() << " over " << mesh.text(atoms) << ", but it is "
         << describeCuts(mesh, all)
         << (all.empty() ? "" : "; only the last axes of a dimension, in its order, can be gathered");
    note(diag);
    return;
  }
  size_t left = atoms.size();
  while (left > 0 && all.back().size() <= left) {
    left -= all.back().size();
    all.pop_back();
  }
  padding[dim] = Padding();
  if (left == 0)
    return;
  if (hasPadding(state.size(dim), claims.of(operand.get())->dims[dim])) {
    InFlightDiagnostic diag = refuse();
    diag << "gathers dimension " << dim << " of " << what() << " over " << mesh.text(atoms) << ", a part of "
         << mesh.text(all.back()) << " that cuts " << state.size(dim)
         << " elements at once; what is left would be no even split";
    note(diag);
  }
  all.back().truncate(all.back().size() - left);
}

/// C19: a mask knows where padding begins by the whole size and the axes of the dimension.
void Transfer::mask(MaskOp mask) {
  int64_t dim = static_cast<int64_t>(mask.getDim()), size = static_cast<int64_t>(mask.getSize());
  padding[dim] = mask.getValue().convertToDouble();
  if (size == state.size(dim) && sameSplit(size, cuts, state.dims[dim]))
    return;
  InFlightDiagnostic diag = refuse();
  diag << "masks a dimension of " << size << " elements " << describeCuts(mesh, cuts) << ", but dimension " << dim
       << " of " << what() << " has " << state.size(dim) << " elements " << describeCuts(mesh, state.dims[dim]);
  note(diag);
}

/// C20: the claim says what was made.
void Transfer::finish(OpResult result) {
  for (int64_t dim = 0; dim < state.rank(); ++dim)
    claims.setPadding(result, dim, padding[dim]);
  const ValueState *claimed = claims.of(result);
  if (!sound || !claimed || sameState(state, *claimed))
    return;
  InFlightDiagnostic diag = refuse();
  diag << "claims that " << claims.resultText(result) << " is ";
  if (state.global != claimed->global)
    diag << "a shard of " << claimed->global << ", but " << what() << " is one of " << state.global;
  else
    diag << describe(mesh, *claimed) << ", but makes it " << describe(mesh, state);
  note(diag);
}
} // namespace

bool checkCollective(Claims &claims, Operation *op) {
  auto each = [&](AxesAttr axes, auto step) {
    if (claims.sound(axes))
      for (auto [operand, result] : llvm::zip(op->getOpOperands(), op->getResults()))
        if (claims.of(operand.get())) {
          Transfer transfer(claims, operand, axes);
          step(transfer);
          transfer.finish(result);
        }
    return true;
  };
  auto index = [](uint64_t dim) { return static_cast<int64_t>(dim); };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](AllReduceOp all) {
        if (all.getStages())
          claims.fault(op) << "names stages, but stages are cut after the partition is judged"; // C21
        return each(all.getAxes(), [&](Transfer &transfer) { transfer.join(all.getReduction()); });
      })
      .Case([&](ReduceScatterOp scatter) {
        return each(scatter.getAxes(), [&](Transfer &transfer) {
          transfer.join(scatter.getReduction());
          transfer.scatter(index(scatter.getDim()));
        });
      })
      .Case([&](AllGatherOp gather) {
        return each(gather.getAxes(), [&](Transfer &transfer) { transfer.gather(index(gather.getDim())); });
      })
      .Case([&](AllToAllOp exchange) {
        return each(exchange.getAxes(), [&](Transfer &transfer) {
          transfer.gather(index(exchange.getGatherDim()));
          transfer.scatter(index(exchange.getSplitDim()));
        });
      })
      .Case([&](ShiftOp shift) { return each(shift.getAxes(), [](Transfer &) {}); }) // which block it is: RingCheck
      .Case([&](SliceOp slice) {
        return each(slice.getAxes(), [&](Transfer &transfer) { transfer.take(index(slice.getDim())); });
      })
      .Case([&](MaskOp mask) { return each(mask.getAxes(), [&](Transfer &transfer) { transfer.mask(mask); }); })
      .Default(false);
}
} // namespace hocket::dist::judge
