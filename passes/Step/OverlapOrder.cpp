// See OverlapOrder.h.
#include "passes/Step/OverlapOrder.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

static StringRef streamOf(Operation *op) {
  if (isa<AwaitOp>(op))
    return "";
  auto stream = op->getAttrOfType<StringAttr>("stream");
  return stream ? stream.getValue() : "";
}

/// What takes time: all but loads, stores, numbers and awaits.
static bool works(Operation *op) { return isa<LaunchOp, GemmOp, CollectiveOp, TransferOp>(op); }

Operation *OverlapOrder::firstUser(Value value) const {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers())
    if (!first || user->isBeforeInBlock(first))
      first = user;
  return first;
}

Operation *OverlapOrder::firstWork() const {
  auto found = llvm::find_if(block, [](Operation &op) { return works(&op); });
  return found == block.end() ? nullptr : &*found;
}

bool OverlapOrder::touchesBetween(Value buffer, Operation *from, Operation *to) const {
  return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
    return user->getBlock() == &block && isa<LoadOp, StoreOp>(user) && user != from && user != to &&
           from->isBeforeInBlock(user) && user->isBeforeInBlock(to);
  });
}

// ---- starts --------------------------------------------------------------------------------------------------------
/// Launches of what is loaded, and what comes from the host: cheap next to what is sent, so they may run early.
bool OverlapOrder::isLoaded(Value value) const {
  Operation *def = value.getDefiningOp();
  if (isa<LoadOp, RankScalarOp>(def))
    return true;
  return isa<LaunchOp, TransferOp>(def) &&
         llvm::all_of(def->getOperands(), [&](Value operand) { return isLoaded(operand); });
}

void OverlapOrder::raise(Operation *op, Operation *before) {
  if (op->isBeforeInBlock(before))
    return;
  if (auto load = dyn_cast<LoadOp>(op))
    for (Operation *user : load.getBuffer().getUsers()) // not over a store
      if (isa<StoreOp>(user) && user->getBlock() == &block && user->isBeforeInBlock(op) &&
          !user->isBeforeInBlock(before))
        return;
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp(); def && def->getBlock() == &block)
      raise(def, before);
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp();
        def && def->getBlock() == &block && (def == before || !def->isBeforeInBlock(before)))
      return; // an operand had to stay
  op->moveBefore(before);
}

/// Moves `op`, and the launches that only make its operand, up to where their own operands are made.
void OverlapOrder::raiseToOperands(Operation *op) {
  Operation *last = nullptr;
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (!def || def->getBlock() != &block)
      continue;
    if (isa<LaunchOp>(def) && operand.hasOneUse())
      raiseToOperands(def);
    if (!last || last->isBeforeInBlock(def))
      last = def;
  }
  while (last && isa<LoadOp, RankScalarOp>(last) && last->getNextNode() &&
         isa<LoadOp, RankScalarOp>(last->getNextNode()))
    last = last->getNextNode(); // loads stay together
  if (last && last->getNextNode() != op && last->isBeforeInBlock(op))
    op->moveAfter(last);
}

void OverlapOrder::startAhead(ArrayRef<CollectiveOp> collectives) {
  CollectiveOp before;
  for (CollectiveOp collective : collectives) {
    if (!isLoaded(collective.getInput())) {
      raiseToOperands(collective);
    } else {
      Operation *place = before ? firstUser(before.getResult(0)) : firstWork();
      if (place && place != collective)
        raise(collective, place);
    }
    before = collective;
  }
}

// ---- uses ----------------------------------------------------------------------------------------------------------
/// Whether all that follows from `op` ends in stores of which this body loads nothing; `way` gets it, in any order.
bool OverlapOrder::leadsToStores(Operation *op, SmallVectorImpl<Operation *> &way) const {
  if (llvm::is_contained(way, op))
    return true;
  way.push_back(op);
  if (auto store = dyn_cast<StoreOp>(op))
    return llvm::none_of(store.getBuffer().getUsers(), [&](Operation *user) {
      return user != op && user->getBlock() == &block && isa<LoadOp, StoreOp>(user) && op->isBeforeInBlock(user);
    });
  if (!isa<LaunchOp, TransferOp>(op))
    return false;
  return llvm::all_of(op->getUsers(), [&](Operation *user) { return leadsToStores(user, way); });
}

void OverlapOrder::useLate(ArrayRef<CollectiveOp> collectives) {
  for (size_t i = 0; i < collectives.size(); ++i) {
    CollectiveOp collective = collectives[i], next = i + 1 < collectives.size() ? collectives[i + 1] : CollectiveOp();
    Block::iterator place = next ? std::next(next->getIterator()) : block.end();
    SmallVector<Operation *> way;
    for (Operation *user : collective.getResult(0).getUsers()) {
      SmallVector<Operation *> some(way);
      if (leadsToStores(user, some))
        way = std::move(some);
    }
    llvm::sort(way, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *op : way)
      if (place == block.end() || op->isBeforeInBlock(&*place))
        op->moveBefore(&block, place);
  }
}

void OverlapOrder::fill(ArrayRef<CollectiveOp> collectives) {
  for (size_t i = 0; i < collectives.size(); ++i) {
    CollectiveOp collective = collectives[i], next = i + 1 < collectives.size() ? collectives[i + 1] : CollectiveOp();
    Operation *use = firstUser(collective.getResult(0));
    Operation *end = next ? next.getOperation() : nullptr;
    if (!use || (end && !use->isBeforeInBlock(end)))
      continue;
    auto madeBefore = [&](const Value &operand) {
      Operation *def = operand.getDefiningOp();
      return !def || def->getBlock() != &block || def->isBeforeInBlock(use);
    };
    llvm::DenseSet<Operation *> moved;
    for (Operation *op = use->getNextNode(), *following; op && op != end; op = following) {
      following = op->getNextNode();
      auto store = dyn_cast<StoreOp>(op);
      bool weightGrad = isa<LaunchOp, GemmOp>(op) && nn::getPhase(op) == nn::Phase::WeightGrad;
      bool ofMoved = store && moved.contains(store.getValue().getDefiningOp());
      if ((!weightGrad && !ofMoved) || !llvm::all_of(op->getOperands(), madeBefore) ||
          (store && touchesBetween(store.getBuffer(), use->getPrevNode(), store)))
        continue;
      op->moveBefore(use);
      moved.insert(op);
    }
  }
}

void OverlapOrder::dropIdle(ArrayRef<CollectiveOp> collectives) {
  for (CollectiveOp collective : collectives) {
    Operation *use = firstUser(collective.getResult(0));
    bool beside = false;
    for (Operation *op = collective->getNextNode(); op && op != use; op = op->getNextNode())
      beside |= works(op) && streamOf(op) != *collective.getStream();
    if (!beside)
      collective.removeStreamAttr();
  }
}

// ---- awaits --------------------------------------------------------------------------------------------------------
void OverlapOrder::placeAwaits() {
  struct Stream {
    unsigned started = 0, awaited = 0;
    SmallVector<Operation *> ops = {};
  };
  llvm::MapVector<StringAttr, Stream> streams;
  llvm::DenseMap<Operation *, std::pair<StringAttr, unsigned>> place; // of ops on streams: the count that awaits them
  OpBuilder builder(block.getParentOp()->getContext());
  auto await = [&](StringAttr name, unsigned count, Location loc) {
    Stream &stream = streams[name];
    if (count <= stream.awaited)
      return;
    AwaitOp::create(builder, loc, name, builder.getI64IntegerAttr(count));
    stream.awaited = count;
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    builder.setInsertionPoint(&op);
    StringAttr own = streamOf(&op).empty() ? StringAttr() : op.getAttrOfType<StringAttr>("stream");
    for (Value operand : op.getOperands()) // results that it reads, but for those that its own stream makes
      if (auto made = place.find(operand.getDefiningOp()); made != place.end() && made->second.first != own)
        await(made->second.first, made->second.second, op.getLoc());
    if (auto store = dyn_cast<StoreOp>(op)) // what is read where it writes
      for (auto &[name, stream] : streams)
        for (unsigned i = stream.awaited; i < stream.ops.size(); ++i)
          for (Value operand : stream.ops[i]->getOperands())
            if (auto load = operand.getDefiningOp<LoadOp>(); load && load.getBuffer() == store.getBuffer())
              await(name, i + 1, op.getLoc());
    if (own) {
      Stream &stream = streams[own];
      stream.ops.push_back(&op);
      place[&op] = {own, ++stream.started};
    }
  }
  builder.setInsertionPointToEnd(&block);
  for (auto &[name, stream] : streams)
    if (stream.started)
      await(name, stream.started, stream.ops.back()->getLoc());
}
