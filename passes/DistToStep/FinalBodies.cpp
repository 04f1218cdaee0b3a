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
  /// Of one parameter, in a reduction.
  struct Gradient {
    Value buffer; ///< of its accumulator
    PartOp part;  ///< of the bucket; null: it is reduced alone
  };

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
    SmallVector<Gradient> gradients = gradientsOf(collective);
    Value separate = gradients.empty() ? makeBuffer(collective, name) : Value();
    builder.setInsertionPointAfter(place);
    IRMapping map;
    for (Operation *op : way)
      builder.clone(*op, map);
    if (separate)
      behind[place] = reduce(collective, map, separate);
    else if (!gradients.front().part)
      behind[place] = reduce(collective, map, gradients.front().buffer, way.size() > 1);
    else
      behind[place] = reduceBucket(collective, map, gradients);
    collective.erase();
  }

  static Value load(OpBuilder &builder, Value like, Value buffer) {
    return LoadOp::create(builder, like.getLoc(), cast<RankedTensorType>(like.getType()), buffer);
  }

  /// `first`: what is reduced is made there as well.
  StoreOp reduce(CollectiveOp collective, IRMapping &map, Value buffer, bool first = false) {
    if (first) {
      StoreOp::create(builder, collective.getLoc(), map.lookup(collective.getInput()), buffer);
      map.map(collective.getInput(), load(builder, collective.getInput(), buffer));
    }
    auto copy = cast<CollectiveOp>(builder.clone(*collective, map));
    auto store = StoreOp::create(builder, collective.getLoc(), copy.getResult(0), buffer);
    builder.setInsertionPoint(collective);
    collective.getResult(0).replaceAllUsesWith(load(builder, collective.getResult(0), buffer));
    return store;
  }

  /// Each gradient goes from the bucket to where its accumulator lies.
  StoreOp reduceBucket(CollectiveOp collective, IRMapping &map, ArrayRef<Gradient> gradients) {
    auto copy = cast<CollectiveOp>(builder.clone(*collective, map));
    map.map(collective.getResult(0), copy.getResult(0));
    StoreOp store;
    for (auto [buffer, bucketPart] : gradients) {
      auto part = cast<PartOp>(builder.clone(*bucketPart, map));
      store = StoreOp::create(builder, part.getLoc(), part.getResult(), buffer);
    }
    for (auto [buffer, part] : gradients) {
      OpBuilder before(part);
      part.getResult().replaceAllUsesWith(load(before, part.getResult(), buffer));
      part.erase();
    }
    return store;
  }

  /// Where each gradient that is reduced whole can lie afterwards: in an accumulator of its own, if nothing else of
  /// what runs once a step reads that; what comes then is begin, which zeroes it. None if one has no such place.
  SmallVector<Gradient> gradientsOf(CollectiveOp collective) {
    if (collective.getKind() != CollectiveKind::AllReduce)
      return {};
    if (Value buffer = ownAccumulator(collective.getInput()))
      return {{buffer, {}}};
    SmallVector<Gradient> gradients;
    for (Value bucket = collective.getInput(); bucket;) {
      auto place = bucket.getDefiningOp<PlaceOp>();
      Value buffer = place && bucket.hasOneUse() ? ownAccumulator(place.getX()) : Value();
      PartOp part = buffer ? partAt(collective, place.getFirst(), place.getX().getType()) : PartOp();
      if (!part)
        return {};
      gradients.push_back({buffer, part});
      bucket = place.getBucket();
    }
    bool all = llvm::range_size(collective.getResult(0).getUsers()) == gradients.size();
    return all ? gradients : SmallVector<Gradient>();
  }

  static PartOp partAt(CollectiveOp collective, uint64_t first, Type type) {
    for (Operation *user : collective.getResult(0).getUsers())
      if (auto part = dyn_cast<PartOp>(user); part && part.getFirst() == first && part.getResult().getType() == type)
        return part;
    return {};
  }

  /// Of a value that is an accumulator, or the sum of several, and has one use: the buffer of the first.
  static Value ownAccumulator(Value value) {
    if (!value.hasOneUse())
      return {};
    if (auto add = value.getDefiningOp<nn::AddOp>()) {
      bool all = llvm::all_of(add->getOperands(), [&](Value operand) {
        return operand.getType() == value.getType() && ownAccumulator(operand);
      });
      return all ? ownAccumulator(add->getOperand(0)) : Value();
    }
    auto load = value.getDefiningOp<LoadOp>();
    bool readOnce = load && llvm::none_of(load.getBuffer().getUsers(), [&](Operation *user) {
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
