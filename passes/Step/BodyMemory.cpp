// Lifetimes and places of the values of one body.
#include "passes/Step/BodyMemory.h"
#include "mlir/IR/SymbolTable.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

SmallVector<std::pair<unsigned, unsigned>> hocket::step::inPlacePairs(LaunchOp launch, SymbolTable &symbols) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  Operation *kernel = symbols.lookup(launch.getKernel());
  auto flat = kernel ? kernel->getAttrOfType<DenseI64ArrayAttr>("hocket.in_place") : DenseI64ArrayAttr();
  for (int64_t i = 0; flat && i + 1 < flat.size(); i += 2)
    pairs.push_back({static_cast<unsigned>(flat[i]), static_cast<unsigned>(flat[i + 1])});
  return pairs;
}

BodyMemory::BodyMemory(BodyOp body, SymbolTable &symbols) : body(body), symbols(symbols) {
  number();
  followStreams();
  placeLoadsAndStores();
  placeOthers();
  pack();
}

void BodyMemory::number() {
  for (auto [index, op] : llvm::enumerate(body.getBody().front())) {
    place[&op] = index;
    if (auto load = dyn_cast<LoadOp>(op))
      loadsOf[load.getBuffer()].push_back(load);
    if (auto store = dyn_cast<StoreOp>(op))
      storesOf[store.getBuffer()].push_back(store);
  }
}

/// When each op on a stream is known to have finished. Where no await says so: at the end of the body.
void BodyMemory::followStreams() {
  llvm::StringMap<SmallVector<Operation *>> inFlight; // by stream, in the order of starts
  llvm::StringMap<unsigned> awaited;
  for (Operation &op : body.getBody().front()) {
    if (auto await = dyn_cast<AwaitOp>(op)) {
      auto &started = inFlight[await.getStream()];
      unsigned &known = awaited[await.getStream()];
      for (; known < std::min<uint64_t>(await.getCount(), started.size()); ++known)
        awaitedAt[started[known]] = place[&op];
    } else if (auto stream = op.getAttrOfType<StringAttr>("stream")) {
      inFlight[stream.getValue()].push_back(&op);
      awaitedAt[&op] = place[&body.getBody().front().back()];
    }
  }
}

/// The last op of the body during which `op` may still run.
unsigned BodyMemory::endOf(Operation *op) const {
  auto awaited = awaitedAt.find(op);
  return awaited == awaitedAt.end() ? place.lookup(op) : awaited->second;
}

unsigned BodyMemory::lastUse(Value value, Operation *butOf) const {
  Operation *def = value.getDefiningOp();
  unsigned last = def == butOf ? place.lookup(def) : endOf(def);
  for (Operation *user : value.getUsers())
    last = std::max(last, user == butOf ? place.lookup(user) : endOf(user));
  return last;
}

bool BodyMemory::worksInPlace(Operation *op, unsigned result, Value operand) {
  if (auto gemm = dyn_cast<GemmOp>(op))
    return result == 0 && gemm.getC() == operand && gemm.getA() != operand && gemm.getB() != operand;
  if (auto collective = dyn_cast<CollectiveOp>(op))
    return collective.getKind() == CollectiveKind::AllReduce;
  auto launch = dyn_cast<LaunchOp>(op);
  if (!launch)
    return false;
  auto pairs = inPlacePairs(launch, symbols);
  for (auto [index, input] : llvm::enumerate(launch.getInputs()))
    if (input == operand && !llvm::is_contained(pairs, std::pair<unsigned, unsigned>(result, index)))
      return false;
  return llvm::is_contained(launch.getInputs(), operand);
}

/// True if `value`, stored to `buffer` later on, can be made there: see the class.
bool BodyMemory::mayMakeIn(Value value, Value buffer, StoreOp store) {
  Operation *def = value.getDefiningOp();
  if (!isa<LaunchOp, GemmOp, CollectiveOp, TransferOp>(def) || buffers.contains(value))
    return false;
  unsigned made = place[def], stored = place[store];
  for (LoadOp load : loadsOf[buffer]) {
    unsigned at = place[load];
    if (at > made && at < stored)
      return false;
    if (at > stored)
      continue;
    for (Operation *user : load.getValue().getUsers()) {
      if ((user == def ? place[user] : endOf(user)) > made)
        return false;
      if (user == def && !worksInPlace(def, cast<OpResult>(value).getResultNumber(), load.getValue()))
        return false;
    }
  }
  return llvm::all_of(storesOf[buffer], [&](StoreOp other) {
    return other == store || (place[other] < stored ? endsBefore(other, value) : endsBefore(store, other.getValue()));
  });
}

/// Of two values of one buffer: nothing reads the stored one any more when `next` is made there, but the op that makes
/// it, in place.
bool BodyMemory::endsBefore(StoreOp store, Value next) {
  Operation *made = next.getDefiningOp();
  if (!place.contains(made) || place[made] <= place[store])
    return false;
  return llvm::all_of(store.getValue().getUsers(), [&](Operation *user) {
    if (user == made)
      return worksInPlace(made, cast<OpResult>(next).getResultNumber(), store.getValue());
    return user == store || endOf(user) <= place[made];
  });
}

void BodyMemory::placeLoadsAndStores() {
  for (Operation &op : body.getBody().front())
    if (auto store = dyn_cast<StoreOp>(op)) {
      if (mayMakeIn(store.getValue(), store.getBuffer(), store))
        buffers[store.getValue()] = store.getBuffer();
      else
        copiedStores.insert(store);
    }
  for (auto &[buffer, loads] : loadsOf)
    for (LoadOp load : loads) {
      // A value made in place writes the buffer when it is made; mayMakeIn has seen to its readers.
      bool overwritten = llvm::any_of(storesOf[buffer], [&](StoreOp store) {
        return copiedStores.contains(store) && place[store] > place[load] && lastUse(load.getValue()) > place[store];
      });
      if (overwritten)
        copiedLoads.insert(load);
      else
        buffers[load.getValue()] = buffer;
    }
}

/// Whether the last thing that needs a piece is `op`, however long that runs. Those before its last value are done.
bool BodyMemory::diesIn(const Piece &piece, Operation *op) const {
  return lastUse(piece.values.back(), op) <= place.lookup(op);
}

void BodyMemory::placeOthers() {
  for (Operation &op : body.getBody().front())
    for (OpResult result : op.getResults()) {
      if (buffers.contains(result) || !isa<RankedTensorType>(result.getType()))
        continue;
      unsigned begin = place[&op], end = lastUse(result);
      std::optional<unsigned> taken;
      for (Value operand : op.getOperands()) {
        auto it = pieceOf.find(operand);
        // A piece that another result of this op has taken over ends here too if that result is never used.
        if (it == pieceOf.end() || !diesIn(pieces[it->second], &op) ||
            pieces[it->second].values.back().getDefiningOp() == &op || operand.getType() != result.getType() ||
            !worksInPlace(&op, result.getResultNumber(), operand))
          continue;
        taken = it->second;
        break;
      }
      if (!taken) {
        taken = pieces.size();
        pieces.push_back({{}, byteSize(cast<ShapedType>(result.getType())), begin, end, 0});
      }
      pieces[*taken].values.push_back(result);
      pieces[*taken].end = std::max(end, begin);
      pieceOf[result] = *taken;
    }
}

/// Quadratic in pieces alive at once; fine to 10^4.
void BodyMemory::pack(ArrayRef<ByteRange> taken) {
  SmallVector<Piece *> alive;
  workspaceBytes = 0;
  for (Piece &piece : pieces) {
    llvm::erase_if(alive, [&](Piece *other) { return other->end < piece.begin; });
    SmallVector<ByteRange> busy(taken);
    for (Piece *other : alive)
      busy.push_back({other->offset, other->offset + other->bytes});
    piece.offset = firstFit(busy, piece.bytes);
    alive.push_back(&piece);
    workspaceBytes = std::max(workspaceBytes, aligned(piece.offset + piece.bytes));
  }
}

int64_t hocket::step::firstFit(SmallVector<ByteRange> &busy, int64_t bytes) {
  llvm::sort(busy, [](const ByteRange &a, const ByteRange &b) { return a.begin < b.begin; });
  int64_t offset = 0;
  for (const ByteRange &range : busy) {
    if (offset + bytes <= range.begin)
      break;
    offset = std::max(offset, aligned(range.end));
  }
  return offset;
}
