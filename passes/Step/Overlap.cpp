// step-overlap: collectives and transfers on streams of their own, started early and awaited late (cf. Li et al. 2020,
// "PyTorch Distributed", section 3.2.3, Zhao et al. 2023, "PyTorch FSDP", section 3.3, and Ren et al. 2021,
// "ZeRO-Offload", section 4.2).
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Step/OverlapOrder.h"
#include "passes/Step/Passes.h"
#include "passes/Step/TransferOrder.h"
#include "llvm/ADT/SetVector.h"
#include <set>
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

namespace hocket::step {
#define GEN_PASS_DEF_OVERLAPPASS
#include "passes/Step/Passes.h.inc"
} // namespace hocket::step

namespace {
/// What a collective carries, from where its operand comes and where its result goes.
class Classifier {
public:
  Classifier(SymbolTable &symbols, StringAttr stageAxis) : symbols(symbols), stageAxis(stageAxis) {}

  std::optional<dist::Overlap> of(CollectiveOp collective, BodyKind body) {
    if (joinsStages(collective))
      return std::nullopt;
    bool gathers = collective.getKind() == CollectiveKind::AllGather;
    if (gathers && (comesFrom(collective.getInput(), isParameter) || goesTo(collective.getResult(0), isParameter)))
      return dist::Overlap::Parameters;
    bool reduces =
        collective.getKind() == CollectiveKind::AllReduce || collective.getKind() == CollectiveKind::ReduceScatter;
    if (reduces &&
        (nn::getPhase(collective) == nn::Phase::WeightGrad || comesFrom(collective.getInput(), isAccumulator)))
      return dist::Overlap::Gradients;
    return runsOnce(body) ? std::nullopt : std::optional(dist::Overlap::Activations);
  }

private:
  bool joinsStages(CollectiveOp collective) const {
    return stageAxis && llvm::any_of(collective.getAxes().getRefs(),
                                     [&](const dist::AxisRef &ref) { return ref.name == stageAxis; });
  }
  static bool isParameter(BufferOp buffer) { return buffer.getMemory() == MemoryClass::Parameter; }
  /// Of the loss's, which is a number, nothing is worth a stream.
  static bool isAccumulator(BufferOp buffer) {
    return buffer.getMemory() == MemoryClass::Accumulator && cast<MemRefType>(buffer.getBuffer().getType()).getRank();
  }

  /// A kernel that only moves elements, casts them, or adds the uses of one parameter.
  bool moves(Operation *op) {
    auto launch = dyn_cast<LaunchOp>(op);
    if (!launch)
      return false;
    auto [it, fresh] = known.try_emplace(launch.getKernel(), false);
    auto kernel = fresh ? symbols.lookup<func::FuncOp>(launch.getKernel()) : func::FuncOp();
    if (kernel && !kernel.isExternal())
      it->second = llvm::all_of(kernel.front(), [](Operation &inside) {
        return isa<PackOp, UnpackOp, PlaceOp, PartOp, SliceOp, MaskOp, nn::CastOp, nn::AddOp, func::ReturnOp>(inside);
      });
    return it->second;
  }

  bool comesFrom(Value value, llvm::function_ref<bool(BufferOp)> wanted) {
    llvm::SetVector<Value> way;
    way.insert(value);
    bool found = false;
    for (size_t i = 0; i < way.size(); ++i) {
      Operation *def = way[i].getDefiningOp();
      if (auto load = dyn_cast_or_null<LoadOp>(def)) {
        if (!wanted(load.getBuffer().getDefiningOp<BufferOp>()))
          return false;
        found = true;
      } else if (auto other = dyn_cast_or_null<CollectiveOp>(def); other && joinsStages(other)) {
        way.insert(other.getInput());
      } else if (auto transfer = dyn_cast_or_null<TransferOp>(def)) {
        way.insert(transfer.getInput());
      } else if (def && moves(def)) {
        way.insert(cast<LaunchOp>(def).getInputs().begin(), cast<LaunchOp>(def).getInputs().end());
      } else {
        return false;
      }
    }
    return found;
  }

  bool goesTo(Value value, llvm::function_ref<bool(BufferOp)> wanted) {
    llvm::SetVector<Value> way;
    way.insert(value);
    bool found = false;
    for (size_t i = 0; i < way.size(); ++i)
      for (Operation *user : way[i].getUsers()) {
        if (auto store = dyn_cast<StoreOp>(user))
          found |= wanted(store.getBuffer().getDefiningOp<BufferOp>());
        else if (isa<TransferOp>(user) || moves(user))
          way.insert(user->result_begin(), user->result_end());
        else
          return false;
      }
    return found;
  }

  SymbolTable &symbols;
  StringAttr stageAxis;
  llvm::StringMap<bool> known;
};

struct OverlapPass : hocket::step::impl::OverlapPassBase<OverlapPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<ProgramOp>()) {
      auto plan = symbols.lookup<dist::PlanOp>(program.getPlan());
      if (!plan)
        continue;
      std::set<dist::Overlap> asked;
      for (auto tactic : plan.getBody().front().getOps<dist::OverlapOp>())
        asked.insert(tactic.getWhat());
      auto stages = plan.tactic<dist::StagesOp>();
      Classifier classifier(symbols, stages ? stages.getAxes().getRefs().front().name : StringAttr());
      for (auto body : program.ops<BodyOp>())
        overlap(body, classifier, asked);
    }
  }

  static void overlap(BodyOp body, Classifier &classifier, const std::set<dist::Overlap> &asked) {
    SmallVector<CollectiveOp> ofClass[3];
    if (!asked.empty())
      for (auto collective : body.getBody().front().getOps<CollectiveOp>())
        if (auto found = classifier.of(collective, body.getKind()); found && asked.contains(*found)) {
          collective.setStreamAttr(StringAttr::get(body.getContext(), dist::stringifyOverlap(*found)));
          ofClass[static_cast<unsigned>(*found)].push_back(collective);
        }
    OverlapOrder order(body);
    order.startAhead(ofClass[static_cast<unsigned>(dist::Overlap::Parameters)]);
    order.startAhead(ofClass[static_cast<unsigned>(dist::Overlap::Gradients)]);
    for (ArrayRef<CollectiveOp> all : ofClass)
      order.useLate(all);
    order.fill(ofClass[static_cast<unsigned>(dist::Overlap::Activations)]);
    order.dropIdle(ofClass[static_cast<unsigned>(dist::Overlap::Activations)]);
    placeTransfers(body);
    order.placeAwaits();
  }
};
} // namespace
