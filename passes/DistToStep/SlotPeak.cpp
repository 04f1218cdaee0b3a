// See SlotPeak.h.
#include "passes/DistToStep/SlotPeak.h"
#include "dialect/Dist/FreeValues.h"
#include "dialect/NN/NN.h"
#include "llvm/ADT/MapVector.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

namespace {
constexpr BodyKind bodies[] = {BodyKind::Forward, BodyKind::Backward, BodyKind::WeightGrad};

class SlotLine {
public:
  SlotLine(ArrayRef<Operation *> ops, RunsIn runsIn) {
    for (auto [body, kind] : llvm::enumerate(bodies)) {
      begin[body] = end;
      for (Operation *op : ops)
        if (runsIn(op, kind))
          places[op][body] = end++;
    }
    for (auto &[op, at] : places)
      for (Value operand : op->getOperands())
        use(operand, at);
  }

  int64_t peak() const {
    std::vector<int64_t> change(size_t(end) + 1);
    for (auto &[value, time] : busy) {
      int64_t bytes = byteSize(cast<RankedTensorType>(value.getType()));
      change[size_t(time.first)] += bytes;
      change[size_t(time.second) + 1] -= bytes;
    }
    int64_t now = 0, most = 0;
    for (int64_t each : change)
      most = std::max(most, now += each);
    return most;
  }

private:
  /// An op's place on the line, by body; -1: it does not run there.
  struct Places : std::array<int64_t, 3> {
    Places() { fill(-1); }
  };

  /// A body that does not make the value itself needs it from the slot.
  void use(Value value, const Places &user) {
    Operation *maker = value.getDefiningOp();
    if (!maker || dist::isFree(maker) || !isa<RankedTensorType>(value.getType()))
      return;
    auto made = places.find(maker);
    for (size_t body = 0; body < 3; ++body)
      if (user[body] >= 0 && (made == places.end() || made->second[body] < 0)) {
        auto [it, fresh] = busy.insert({value, {startOf(maker, made), user[body]}});
        it->second.second = std::max(it->second.second, user[body]);
      }
  }
  int64_t startOf(Operation *maker, llvm::MapVector<Operation *, Places>::iterator made) const {
    if (made == places.end()) // received
      return begin[nn::getPhase(maker) == nn::Phase::Forward ? 0 : 1];
    return *llvm::find_if(made->second, [](int64_t place) { return place >= 0; });
  }

  llvm::MapVector<Operation *, Places> places;
  llvm::MapVector<Value, std::pair<int64_t, int64_t>> busy; ///< first and last place
  std::array<int64_t, 3> begin{};
  int64_t end = 0;
};
} // namespace

int64_t hocket::step::slotPeak(ArrayRef<Operation *> ops, RunsIn runsIn) { return SlotLine(ops, runsIn).peak(); }
