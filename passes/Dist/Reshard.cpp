// Chooses the collectives of a reshard.
#include "passes/Dist/Reshard.h"
using namespace mlir;

namespace hocket::dist {
namespace {
class Planner {
public:
  Planner(const AxisAtoms &atoms, RankedTensorType type, const Spread &from, const Spread &to)
      : atoms(atoms), type(type), to(to), now(from) {}

  FailureOr<SmallVector<ReshardStep>> plan() {
    for (Atom atom : to.partial)
      if (!llvm::is_contained(now.partial, atom))
        return failure();
    for (int dim = 0; dim < rank(); ++dim)
      split(dim);
    reduceRest();
    for (int dim = 0; dim < rank(); ++dim)
      gather(dim);
    for (int dim = 0; dim < rank(); ++dim)
      split(dim);
    if (now.dims != to.dims)
      return failure();
    return std::move(steps);
  }

private:
  int rank() const { return static_cast<int>(type.getRank()); }

  /// True if shards over `fine` lie inside shards over `coarse`, its prefix: always when sizes divide, and where the
  /// axes of `coarse` stand whole in `fine`. 10 over tp=4 is 3 3 3 1, over "tp":(1)2 it is 5 5: these do not nest.
  bool nests(int dim, ArrayRef<Atom> coarse, ArrayRef<Atom> fine) const {
    if (!isPrefix(coarse, fine))
      return false;
    SmallVector<AxisRef> coarseRefs = atoms.toRefs(coarse), fineRefs = atoms.toRefs(fine);
    bool sameRefs = coarseRefs.size() <= fineRefs.size() &&
                    llvm::equal(coarseRefs, ArrayRef(fineRefs).take_front(coarseRefs.size()));
    return sameRefs || type.getDimSize(dim) % atoms.size(fine) == 0;
  }

  bool mustJoin(Atom atom) const {
    return llvm::is_contained(now.partial, atom) && !llvm::is_contained(to.partial, atom);
  }

  void push(ReshardKind kind, int dim, int gatherDim, ArrayRef<Atom> axes) {
    steps.push_back({kind, dim, gatherDim, Atoms(axes), now});
    if (now.partial.empty())
      now.reduction = steps.back().after.reduction = Reduction::Sum;
  }

  /// Splits `dim` further towards its goal, over atoms that are free or partial.
  void split(int dim) {
    if (!nests(dim, now.dims[dim], to.dims[dim]))
      return;
    while (now.dims[dim].size() < to.dims[dim].size()) {
      ArrayRef<Atom> rest = ArrayRef(to.dims[dim]).drop_front(now.dims[dim].size());
      bool join = mustJoin(rest.front());
      auto fits = [&](Atom atom) {
        return mustJoin(atom) == join && !contains(now.dims, atom) && (join || !llvm::is_contained(now.partial, atom));
      };
      ArrayRef<Atom> run = rest.take_while(fits);
      Atoms grown;
      for (; !run.empty(); run = run.drop_back()) {
        grown = now.dims[dim];
        grown.append(run.begin(), run.end());
        if (nests(dim, grown, to.dims[dim]))
          break;
      }
      if (run.empty())
        return;
      now.dims[dim] = grown;
      if (join)
        llvm::erase_if(now.partial, [&](Atom atom) { return llvm::is_contained(run, atom); });
      push(join ? ReshardKind::ReduceScatter : ReshardKind::Slice, dim, -1, run);
    }
  }

  void reduceRest() {
    Atoms joined;
    for (Atom atom : now.partial)
      if (mustJoin(atom))
        joined.push_back(atom);
    if (joined.empty())
      return;
    now.partial = to.partial;
    push(ReshardKind::AllReduce, -1, -1, joined);
  }

  /// Takes away what does not belong to the goal; straight to another dimension where all of it is wanted there.
  void gather(int dim) {
    Atoms &list = now.dims[dim];
    size_t keep = list.size();
    while (keep > 0 && !(nests(dim, ArrayRef(list).take_front(keep), list) &&
                         nests(dim, ArrayRef(list).take_front(keep), to.dims[dim])))
      --keep;
    if (keep == list.size())
      return;
    while (list.size() > keep && moveLast(dim, keep))
      ;
    if (keep == list.size())
      return;
    Atoms moved(ArrayRef(list).drop_front(keep));
    // What another dimension wants goes there; what stands behind it is gathered before.
    for (size_t part = moved.size(); part > 0; --part) {
      int other = wanting(dim, ArrayRef(moved).take_front(part));
      if (other < 0 || !nests(dim, ArrayRef(list).take_front(keep + part), list))
        continue;
      if (part < moved.size()) {
        list.truncate(keep + part);
        push(ReshardKind::AllGather, dim, -1, ArrayRef(moved).drop_front(part));
      }
      list.truncate(keep);
      now.dims[other].append(moved.begin(), moved.begin() + static_cast<ptrdiff_t>(part));
      return push(ReshardKind::AllToAll, other, dim, ArrayRef(moved).take_front(part));
    }
    list.truncate(keep);
    push(ReshardKind::AllGather, dim, -1, moved);
  }

  /// Moves as many of the last axes of `dim`, of those behind `keep`, as another dimension wants next; false if none.
  bool moveLast(int dim, size_t keep) {
    Atoms &list = now.dims[dim];
    for (size_t begin = keep; begin < list.size(); ++begin) {
      Atoms last(ArrayRef(list).drop_front(begin));
      int other = wanting(dim, last);
      if (other < 0 || !nests(dim, ArrayRef(list).take_front(begin), list))
        continue;
      list.truncate(begin);
      now.dims[other].append(last);
      push(ReshardKind::AllToAll, other, dim, last);
      return true;
    }
    return false;
  }

  /// The dimension beside `dim` that is to be split by `axes` next, -1 if there is none.
  int wanting(int dim, ArrayRef<Atom> axes) const {
    for (int other = 0; other < rank(); ++other) {
      Atoms grown = now.dims[other];
      grown.append(axes.begin(), axes.end());
      if (other != dim && isPrefix(grown, to.dims[other]) && nests(other, now.dims[other], grown))
        return other;
    }
    return -1;
  }

  const AxisAtoms &atoms;
  RankedTensorType type;
  const Spread &to;
  Spread now;
  SmallVector<ReshardStep> steps;
};
} // namespace

FailureOr<SmallVector<ReshardStep>> planReshard(const AxisAtoms &atoms, RankedTensorType type, const Spread &from,
                                                const Spread &to) {
  return Planner(atoms, type, from, to).plan();
}
} // namespace hocket::dist
