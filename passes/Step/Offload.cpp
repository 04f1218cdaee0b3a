// step-offload: what the plan's `offload` tactics name lies in the host's memory, and bodies copy it out and in
// (Rajbhandari et al. 2021, "ZeRO-Infinity", section 5; activations: Ren et al. 2021, "ZeRO-Offload").
#include "dialect/Step/Step.h"
#include "passes/Step/Passes.h"
#include "llvm/ADT/MapVector.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

namespace hocket::step {
#define GEN_PASS_DEF_OFFLOADPASS
#include "passes/Step/Passes.h.inc"
} // namespace hocket::step

namespace {
/// `offload activations h.*`
std::string causeOf(dist::OffloadOp tactic) {
  std::string text = ("offload " + dist::stringifyOffload(tactic.getWhat())).str();
  return tactic.getPattern() ? text + " " + tactic.getPattern()->str() : text;
}

/// The path of the op that makes a value, or of what it is made of: data movement has none.
StringRef pathOf(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (StringRef path = nn::getPath(def); !path.empty())
      return path.split('#').first;
    if (!def->getNumOperands() || isa<LoadOp>(def))
      break;
    value = def->getOperand(0);
  }
  return "";
}

bool namesPart(dist::OffloadOp tactic, StringRef path) {
  return !tactic.getPattern() || nn::matchesName((*tactic.getPattern() + ".**").str(), path);
}

/// What a tactic has found, over all stages.
struct Found {
  unsigned values = 0, moved = 0;
  int64_t largest = 0;
};

class ProgramOffload {
public:
  ProgramOffload(ProgramOp program, int64_t least) : program(program), least(least), builder(program.getContext()) {}

  void apply(dist::OffloadOp tactic, Found &found) {
    for (auto buffer : llvm::to_vector(program.ops<BufferOp>())) {
      if (!names(tactic, buffer))
        continue;
      ++found.values;
      found.largest = std::max(found.largest, buffer.getBytes());
      if (tactic.getWhat() == dist::Offload::Activations && buffer.getBytes() < least)
        continue;
      ++found.moved;
      move(buffer, tactic);
    }
  }

private:
  static bool names(dist::OffloadOp tactic, BufferOp buffer) {
    switch (tactic.getWhat()) {
    case dist::Offload::Activations:
      return isKeptActivation(buffer, tactic);
    case dist::Offload::OptimizerState:
      return buffer.getSlot() && nn::isOptimizerState(*buffer.getSlot()) && namesSlot(tactic, buffer);
    case dist::Offload::Parameters:
      return buffer.getSlot() && buffer.getMemory() == MemoryClass::Parameter && namesSlot(tactic, buffer);
    }
    llvm_unreachable("kind of offload");
  }

  static bool namesSlot(dist::OffloadOp tactic, BufferOp buffer) {
    StringRef name = buffer.getName();
    name.consume_back(slotSuffix(*buffer.getSlot(), cast<MemRefType>(buffer.getBuffer().getType()).getRank()));
    return buffer.getSpace() == Space::Arena && (!tactic.getPattern() || nn::matchesName(*tactic.getPattern(), name));
  }

  /// Left by forward in the microbatch's slot, and no message's.
  static bool isKeptActivation(BufferOp buffer, dist::OffloadOp tactic) {
    if (buffer.getSpace() != Space::Slot || buffer.getMemory() != MemoryClass::Activation)
      return false;
    bool stored = false;
    for (Operation *user : buffer->getUsers()) {
      if (isa<MessageOp>(user))
        return false;
      auto store = dyn_cast<StoreOp>(user);
      if (!store)
        continue;
      if (store->getParentOfType<BodyOp>().getKind() != BodyKind::Forward ||
          !namesPart(tactic, pathOf(store.getValue())))
        return false;
      stored = true;
    }
    return stored;
  }

  void move(BufferOp buffer, dist::OffloadOp tactic) {
    buffer.setSpace(buffer.getSpace() == Space::Slot ? Space::HostSlot : Space::Host);
    std::string cause = causeOf(tactic);
    llvm::SmallPtrSet<Operation *, 4> writers; // bodies
    auto users = llvm::to_vector(buffer->getUsers());
    for (Operation *user : users)
      if (auto store = dyn_cast<StoreOp>(user)) {
        writers.insert(store->getParentOp());
        builder.setInsertionPoint(store);
        Operation *maker = store.getValue().getDefiningOp();
        store.getValueMutable().assign(copy(store.getValue(), buffer, maker, store.getLoc(), cause));
      }
    for (Operation *user : users)
      if (auto load = dyn_cast<LoadOp>(user))
        fetch(load, buffer, writers.contains(load->getParentOp()), cause);
  }

  /// Before the first use; a parameter that several layers of a body use, once for each of them, so that it does not
  /// stay on the device in between (as ZeRO-3 gathers it per use). A body that also writes it back reads it first.
  void fetch(LoadOp load, BufferOp buffer, bool writes, StringRef cause) {
    llvm::MapVector<StringRef, SmallVector<OpOperand *>> groups;
    bool perUse = buffer.getSpace() == Space::Host && !writes;
    for (OpOperand &use : load.getValue().getUses()) {
      StringRef path = nn::getPath(use.getOwner()), layer = layerOf(path);
      groups[!perUse ? "" : layer.empty() ? path : layer].push_back(&use);
    }
    for (auto &[layer, uses] : groups) {
      Operation *first = nullptr;
      for (OpOperand *use : uses)
        if (Operation *at = load->getBlock()->findAncestorOpInBlock(*use->getOwner());
            !first || at->isBeforeInBlock(first))
          first = at;
      builder.setInsertionPoint(first);
      Value here = copy(load.getValue(), buffer, first, first->getLoc(), cause);
      for (OpOperand *use : uses)
        use->set(here);
    }
  }

  Value copy(Value value, BufferOp buffer, Operation *like, Location loc, StringRef cause) {
    auto transfer = TransferOp::create(builder, loc, TypeRange(value.getType()), value, ValueRange(), StringAttr(),
                                       builder.getStringAttr(cause), like->getAttrOfType<StringAttr>("path"),
                                       like->getAttrOfType<nn::PhaseAttr>("phase"), ArrayAttr());
    if (Attribute shard = buffer.getShardAttr())
      nn::setShardings(transfer, {shard});
    return transfer.getResults().front();
  }

  ProgramOp program;
  int64_t least;
  OpBuilder builder;
};

struct OffloadPass : hocket::step::impl::OffloadPassBase<OffloadPass> {
  using OffloadPassBase::OffloadPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    llvm::MapVector<Operation *, SmallVector<ProgramOp>> programsOf;
    for (auto program : getOperation().getOps<ProgramOp>())
      if (auto plan = symbols.lookup<dist::PlanOp>(program.getPlan()))
        programsOf[plan].push_back(program);
    for (auto &[plan, programs] : programsOf)
      for (auto tactic : cast<dist::PlanOp>(plan).getBody().front().getOps<dist::OffloadOp>()) {
        Found found;
        for (ProgramOp program : programs)
          ProgramOffload(program, least).apply(tactic, found);
        if (!found.moved)
          tell(tactic, found);
      }
  }

  void tell(dist::OffloadOp tactic, const Found &found) {
    auto warning = tactic.emitWarning() << "`" << causeOf(tactic) << "` moves nothing to the host: ";
    if (found.values)
      warning << "the largest of " << found.values << " values that it names has " << found.largest
              << " bytes on a rank, expected at least " << least.getValue() << " (less is not worth a copy)";
    else
      warning << (tactic.getWhat() == dist::Offload::Activations
                      ? "nothing that it names is kept from forward to backward on one stage"
                      : "no rank holds what it names");
  }
};
} // namespace
