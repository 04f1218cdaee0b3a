// The training step: its symbols are there, its slots are declared once, and each region reads and writes what it may.
#include "dialect/NN/NN.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::nn {

SlotOp TrainingStepOp::findSlot(SlotKind kind, StringRef name) {
  for (auto slot : getSlots().front().getOps<SlotOp>())
    if (slot.getKind() == kind && slot.getName() == name)
      return slot;
  return {};
}

// ---- slots ----------------------------------------------------------------------------------------------------------
bool isOptimizerState(SlotKind kind) {
  return kind == SlotKind::FirstMoment || kind == SlotKind::SecondMoment || kind == SlotKind::Master;
}
bool livesAcrossSteps(SlotKind kind) {
  return kind == SlotKind::Param || kind == SlotKind::State || isOptimizerState(kind);
}

LogicalResult SlotOp::verify() {
  LogicalResult result = success();
  auto type = dyn_cast<RankedTensorType>(getType());
  if (getName().empty())
    result = emitOpError() << "has no name";
  if (!type || !type.hasStaticShape())
    result = emitOpError() << "'" << getName() << "' holds " << getType()
                           << ", expected a ranked tensor whose dimensions are known";
  if (getKind() == SlotKind::Param && !getInit())
    result = emitOpError() << "'" << getName() << "' is a parameter and needs 'init'";
  if (getKind() == SlotKind::State && type && type.getRank() != 0)
    result = emitOpError() << "'" << getName() << "' is of kind state and holds " << type
                           << ", expected a number without dimensions";
  if (getInit() && !livesAcrossSteps(getKind()))
    result = emitOpError() << "'" << getName() << "' is of kind " << stringifySlotKind(getKind())
                           << ", which has no 'init' (known: param, first_moment, second_moment, master, state)";
  if (getZigzag() && (getKind() != SlotKind::Input || (type && type.getRank() == 0)))
    result = emitOpError() << "'" << getName() << "' is in zigzag, which only inputs with a sequence can be";
  else if (getZigzag() && getZigzagAttr().getInt() < 1)
    result = emitOpError() << "'" << getName() << "' is in zigzag over " << getZigzagAttr().getInt()
                           << " ranks, expected at least 1";
  for (Attribute placed : {getShardingAttr(), getUseAttr()}) {
    if (!placed)
      continue;
    auto sharding = dyn_cast<ShardingAttrInterface>(placed);
    if (!sharding)
      result = emitOpError() << "is placed by " << placed << ", which is no sharding";
    else if (type && sharding.getShardedRank() != type.getRank())
      result = emitOpError() << "has a sharding of " << sharding.getShardedRank() << " dimensions for a value of "
                             << type.getRank();
  }
  if (getUse() && !getSharding())
    result = emitOpError() << "says as what it is used, but not where it lives at rest";
  return result;
}

// ---- regions --------------------------------------------------------------------------------------------------------
namespace {
struct RegionRule {
  StringRef name;
  SmallVector<SlotKind> reads, writes;
};
using SlotKey = std::pair<unsigned, StringRef>;
using SlotMap = llvm::DenseMap<SlotKey, SlotOp>;
} // namespace

static ArrayRef<RegionRule> regionRules() {
  using enum SlotKind;
  static const RegionRule rules[] = {{"begin", {Param, State, Input}, {Value}},
                                     {"microbatch", {Param, Accumulator, Value, Input}, {Accumulator}},
                                     {"update",
                                      {Param, FirstMoment, SecondMoment, Master, State, Accumulator, Value, Input},
                                      {Param, FirstMoment, SecondMoment, Master, State, Output}},
                                     {"evaluate", {Param, Accumulator, Value, Input}, {Output}}};
  return rules;
}

static LogicalResult collectSlots(TrainingStepOp step, SlotMap &slots) {
  LogicalResult result = success();
  for (Operation &op : step.getSlots().front()) {
    auto slot = dyn_cast<SlotOp>(op);
    if (!slot) {
      result = op.emitOpError() << "does not belong among the slots of @" << step.getSymName() << " (known: slot)";
      continue;
    }
    if (!slot.getKindAttr() || !slot.getNameAttr() || !slot.getTypeAttr())
      continue; // told by the slot's own verifier, which runs later
    auto [known, isNew] = slots.try_emplace(SlotKey(unsigned(slot.getKind()), slot.getName()), slot);
    if (isNew)
      continue;
    InFlightDiagnostic error = slot.emitOpError() << "is a second slot " << stringifySlotKind(slot.getKind()) << " '"
                                                  << slot.getName() << "'";
    error.attachNote(known->second.getLoc()) << "the first one is here";
    result = error;
  }
  return result;
}

static std::string kindList(ArrayRef<SlotKind> kinds) {
  return llvm::join(llvm::map_range(kinds, [](SlotKind kind) { return stringifySlotKind(kind); }), ", ");
}

/// After partitioning a value is a shard of its slot: element type and rank stay. In `begin` an input is that of all
/// microbatches, in a dimension of its own before the others.
static bool fits(RankedTensorType value, RankedTensorType slot, bool allMicrobatches) {
  return value.getElementType() == slot.getElementType() &&
         (value.getRank() == slot.getRank() || (allMicrobatches && value.getRank() == slot.getRank() + 1));
}

static LogicalResult verifyAccess(Operation *op, SlotKind kind, StringRef name, Type type, const RegionRule &rule,
                                  const SlotMap &slots) {
  bool isRead = isa<ReadOp>(op);
  ArrayRef<SlotKind> legal = isRead ? rule.reads : rule.writes;
  LogicalResult result = success();
  if (!llvm::is_contained(legal, kind))
    result = op->emitOpError() << "of kind " << stringifySlotKind(kind) << " in '" << rule.name << "' (it "
                               << (isRead ? "reads" : "writes") << ": " << kindList(legal) << ")";
  auto found = slots.find(SlotKey(unsigned(kind), name));
  if (found == slots.end()) {
    SmallVector<StringRef> known;
    for (auto &[key, slot] : slots)
      if (key.first == unsigned(kind))
        known.push_back(key.second);
    llvm::sort(known);
    return op->emitOpError() << "of the unknown slot " << stringifySlotKind(kind) << " '" << name << "'"
                             << knownNames(name, known);
  }
  SlotOp slot = found->second;
  auto slotType = dyn_cast<RankedTensorType>(slot.getType());
  bool allMicrobatches = kind == SlotKind::Input && rule.name == "begin";
  auto valueType = dyn_cast<RankedTensorType>(type);
  if (!slotType || !valueType || fits(valueType, slotType, allMicrobatches))
    return result;
  InFlightDiagnostic error = op->emitOpError() << "of '" << name << "' as " << type << ", the slot holds " << slotType
                                               << ": element type and rank must agree";
  error.attachNote(slot.getLoc()) << "slot declared here";
  return error;
}

static LogicalResult verifyRegion(Region &region, const RegionRule &rule, const SlotMap &slots) {
  LogicalResult result = success();
  llvm::DenseMap<SlotKey, Operation *> written;
  region.walk([&](Operation *op) {
    if (isa<ReadOp, WriteOp>(op) &&
        (!op->getAttrOfType<SlotKindAttr>("kind") || !op->getAttrOfType<StringAttr>("name")))
      return; // told by the op's own verifier, which runs later
    if (auto read = dyn_cast<ReadOp>(op)) {
      if (failed(verifyAccess(op, read.getKind(), read.getName(), read.getValue().getType(), rule, slots)))
        result = failure();
    } else if (auto write = dyn_cast<WriteOp>(op)) {
      if (failed(verifyAccess(op, write.getKind(), write.getName(), write.getValue().getType(), rule, slots)))
        result = failure();
      auto [first, isNew] = written.try_emplace(SlotKey(unsigned(write.getKind()), write.getName()), op);
      if (isNew)
        return;
      InFlightDiagnostic error = write.emitOpError()
                                 << "is a second write of '" << write.getName() << "' in '" << rule.name << "'";
      error.attachNote(first->second->getLoc()) << "the first one is here";
      result = error;
    } else if (isa<SlotOp>(op)) {
      result = op->emitOpError() << "stands in '" << rule.name << "', expected in 'slots'";
    }
  });
  return result;
}

LogicalResult TrainingStepOp::verify() {
  SlotMap slots;
  LogicalResult result = collectSlots(*this, slots);
  if (int64_t(getMicrobatches()) < 1)
    result = emitOpError() << "has " << int64_t(getMicrobatches()) << " microbatches, expected at least 1";
  Region *regions[] = {&getBegin(), &getMicrobatch(), &getUpdate(), &getEvaluate()};
  for (auto [region, rule] : llvm::zip_equal(regions, regionRules()))
    if (failed(verifyRegion(*region, rule, slots)))
      result = failure();
  return result;
}

/// The symbol `name` of kind OpT is there; `what` names the kind.
template <typename OpT>
static LogicalResult verifySymbol(Operation *op, Operation *table, StringAttr name, StringRef what,
                                  SymbolTableCollection &symbols) {
  if (symbols.lookupSymbolIn<OpT>(table, name))
    return success();
  SmallVector<StringRef> known;
  for (auto each : table->getRegion(0).getOps<OpT>())
    known.push_back(SymbolTable::getSymbolName(each).getValue());
  return op->emitOpError() << "names the unknown " << what << " '" << name.getValue() << "'"
                           << knownNames(name.getValue(), known);
}

LogicalResult TrainingStepOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *table = SymbolTable::getNearestSymbolTable(getOperation()->getParentOp());
  bool model = succeeded(verifySymbol<ModelOp>(*this, table, getModelAttr().getAttr(), "model", symbols));
  bool recipe = succeeded(verifySymbol<RecipeOp>(*this, table, getRecipeAttr().getAttr(), "recipe", symbols));
  return success(model && recipe);
}
} // namespace hocket::nn
