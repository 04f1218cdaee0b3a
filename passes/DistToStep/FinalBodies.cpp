// Final bodies, from update and the bodies of a microbatch.
#include "passes/DistToStep/FinalBodies.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <set>
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

/// What lies between accumulators and their reduction: movement, casts, sums of the uses of one parameter.
static bool movesOrAdds(Operation *op) {
  return isa<PackOp, UnpackOp, PlaceOp, PartOp, SliceOp, MaskOp, RankScalarOp, nn::CastOp, nn::AddOp>(op);
}

/// The ops of its body that make the input of `collective`, in order, down to loads of accumulators; nothing if others
/// are among them.
static std::optional<SmallVector<Operation *>> wayFromAccumulators(CollectiveOp collective) {
  bool reduces =
      collective.getKind() == CollectiveKind::AllReduce || collective.getKind() == CollectiveKind::ReduceScatter;
  if (!reduces || collective.getReduction() != dist::Reduction::Sum || collective.getStages())
    return std::nullopt;
  llvm::SetVector<Operation *> way;
  bool loads = false;
  way.insert(collective.getInput().getDefiningOp());
  for (size_t i = 0; i < way.size(); ++i) {
    if (auto load = dyn_cast_or_null<LoadOp>(way[i])) {
      if (load.getBuffer().getDefiningOp<BufferOp>().getSlot() != nn::SlotKind::Accumulator)
        return std::nullopt;
      loads = true;
    } else if (!way[i] || !movesOrAdds(way[i])) {
      return std::nullopt;
    } else {
      for (Value operand : way[i]->getOperands())
        way.insert(operand.getDefiningOp());
    }
  }
  if (!loads)
    return std::nullopt;
  auto ordered = way.takeVector();
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return SmallVector<Operation *>(ordered.begin(), ordered.end());
}

LastAdders::LastAdders(ProgramOp program, dist::AxesAttr stageAxes) : stageAxes(stageAxes) {
  for (auto body : program.ops<BodyOp>())
    if (!runsOnce(body.getKind()))
      for (auto store : body.getBody().front().getOps<StoreOp>())
        if (store.getBuffer().getDefiningOp<BufferOp>().getSlot() == nn::SlotKind::Accumulator)
          storedBy[store.getBuffer()].push_back(body);
}

std::optional<LastAdder> LastAdders::of(CollectiveOp collective) const {
  auto way = wayFromAccumulators(collective);
  bool joinsStages = llvm::any_of(collective.getAxes().getRefs(), [&](const dist::AxisRef &ref) {
    return llvm::any_of(stageAxes.getRefs(), [&](const dist::AxisRef &stage) { return stage.name == ref.name; });
  });
  if (!way || joinsStages)
    return std::nullopt;
  std::optional<LastAdder> last;
  for (Operation *op : *way) {
    auto load = dyn_cast<LoadOp>(op);
    if (!load)
      continue;
    auto bodies = storedBy.find(load.getBuffer());
    if (bodies == storedBy.end())
      return std::nullopt;
    for (BodyOp body : bodies->second) {
      bool late = body.getKind() == BodyKind::WeightGrad;
      if ((!late && body.getKind() != BodyKind::Backward) || (last && last->chunk != body.getChunk()))
        return std::nullopt;
      if (!last || late)
        last = LastAdder{body.getKind(), body.getChunk()};
    }
  }
  return last;
}

namespace {
class FinalBodies {
public:
  FinalBodies(ProgramOp program, dist::AxesAttr stageAxes)
      : program(program), stageAxes(stageAxes), builder(program.getContext()) {}

  void run() {
    BodyOp update = program.findBody(BodyKind::Update, 0);
    if (!update)
      return;
    LastAdders adders(program, stageAxes);
    for (auto collective : llvm::make_early_inc_range(update.getBody().front().getOps<CollectiveOp>()))
      if (auto last = adders.of(collective))
        move(collective, *last);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(update.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

private:
  /// The last microbatch's copy of a body.
  BodyOp finalOf(const LastAdder &of) {
    BodyKind kind = of.kind == BodyKind::Backward ? BodyKind::FinalBackward : BodyKind::FinalWeightGrad;
    if (BodyOp known = program.findBody(kind, of.chunk))
      return known;
    BodyOp ordinary = program.findBody(of.kind, of.chunk);
    builder.setInsertionPointAfter(ordinary);
    auto copy = cast<BodyOp>(builder.clone(*ordinary));
    copy.setKind(kind);
    return copy;
  }

  static StoreOp lastStore(BodyOp body, const llvm::DenseSet<Value> &buffers) {
    StoreOp last;
    for (auto store : body.getBody().front().getOps<StoreOp>())
      if (buffers.contains(store.getBuffer()))
        last = store;
    return last;
  }

  void move(CollectiveOp collective, const LastAdder &last) {
    SmallVector<Operation *> way = *wayFromAccumulators(collective);
    llvm::DenseSet<Value> accumulators;
    StringRef name;
    for (Operation *op : way)
      if (auto load = dyn_cast<LoadOp>(op)) {
        accumulators.insert(load.getBuffer());
        if (name.empty())
          name = load.getBuffer().getDefiningOp<BufferOp>().getName();
      }
    name.consume_back(slotSuffix(nn::SlotKind::Accumulator, 1));
    BodyOp body = finalOf(last);
    Operation *place = lastStore(body, accumulators);
    // Behind those that were ready with the same store.
    while (Operation *other = behind.lookup(place))
      place = other;
    Value buffer = inPlace(collective, way);
    if (!buffer)
      buffer = makeBuffer(collective, name);
    builder.setInsertionPointAfter(place);
    IRMapping map;
    for (Operation *op : way)
      builder.clone(*op, map);
    auto copy = cast<CollectiveOp>(builder.clone(*collective, map));
    Operation *store = StoreOp::create(builder, collective.getLoc(), copy.getResult(0), buffer);
    behind[place] = store;
    builder.setInsertionPoint(collective);
    auto type = cast<RankedTensorType>(collective.getResult(0).getType());
    Value reduced = LoadOp::create(builder, collective.getLoc(), type, buffer);
    collective.getResult(0).replaceAllUsesWith(reduced);
    collective.erase();
  }

  /// A whole accumulator is reduced where it lies, if nothing else of what runs once a step reads its summand: what
  /// comes then is begin, which zeroes it.
  Value inPlace(CollectiveOp collective, ArrayRef<Operation *> way) {
    auto load = way.size() == 1 ? dyn_cast<LoadOp>(way.front()) : LoadOp();
    if (!load || collective.getKind() != CollectiveKind::AllReduce || !load.getValue().hasOneUse())
      return {};
    bool readOnce = llvm::none_of(load.getBuffer().getUsers(), [&](Operation *user) {
      auto body = user->getParentOfType<BodyOp>();
      return user != load && body && runsOnce(body.getKind()) && body.getKind() != BodyKind::Begin;
    });
    return readOnce ? load.getBuffer() : Value();
  }

  Value makeBuffer(CollectiveOp collective, StringRef name) {
    builder.setInsertionPoint(*program.ops<BodyOp>().begin());
    std::string unique = (name + ".reduced").str();
    for (unsigned count = 2; !names.insert(unique).second; ++count)
      unique = (name + ".reduced." + Twine(count)).str();
    auto type = cast<RankedTensorType>(collective.getResult(0).getType());
    return BufferOp::create(builder, collective.getLoc(), MemRefType::get(type.getShape(), type.getElementType()),
                            unique, MemoryClass::Accumulator, Space::Arena, IntegerAttr(),
                            nn::SlotKindAttr::get(builder.getContext(), nn::SlotKind::Value), nn::InitAttr(),
                            IntegerAttr(),
                            dyn_cast_or_null<dist::ShardAttr>(nn::getSharding(collective->getResult(0))));
  }

  ProgramOp program;
  dist::AxesAttr stageAxes;
  OpBuilder builder;
  llvm::DenseMap<Operation *, Operation *> behind;
  std::set<std::string> names;
};
} // namespace

void hocket::step::reduceInFinalBodies(ProgramOp program, dist::AxesAttr stageAxes) {
  FinalBodies(program, stageAxes).run();
}
