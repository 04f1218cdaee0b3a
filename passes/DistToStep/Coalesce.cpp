// Buckets of collectives.
#include "passes/DistToStep/Coalesce.h"
#include "llvm/ADT/StringSet.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

namespace {
using Key = std::tuple<CollectiveKind, dist::Reduction, Attribute, Type>;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Collectives that go together.
struct Bucket {
  SmallVector<CollectiveOp> members;
  SmallVector<Operation *> waiting; ///< what uses them and stood before the last one
  int64_t bytes = 0;
};

/// In the order in which they are opened, which is the same in every compilation.
class Buckets {
public:
  Bucket *find(const Key &key) {
    auto it = llvm::find_if(list, [&](auto &entry) { return entry.first == key; });
    return it == list.end() ? nullptr : &it->second;
  }
  Bucket &at(const Key &key) {
    if (Bucket *known = find(key))
      return *known;
    return list.emplace_back(key, Bucket()).second;
  }
  Bucket take(const Key &key) {
    auto it = llvm::find_if(list, [&](auto &entry) { return entry.first == key; });
    Bucket bucket = std::move(it->second);
    list.erase(it);
    return bucket;
  }
  bool empty() const { return list.empty(); }
  Key first() const { return list.front().first; }

private:
  SmallVector<std::pair<Key, Bucket>> list;
};

class BodyCoalescer {
public:
  BodyCoalescer(BodyOp body, dist::MeshOp mesh, ArrayRef<dist::AxisRef> data, int64_t bucketBytes)
      : body(body), mesh(mesh), data(data), bucketBytes(bucketBytes) {}

  void run() {
    Block &block = body.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(block))
      visit(&op);
    while (!open.empty())
      flush(open.first());
    while (!early.empty())
      closeEarly(early.first());
  }

private:
  bool takesPart(CollectiveOp op) const {
    return op.getKind() != CollectiveKind::AllToAll && !op.getStages() && bytesOf(op) < bucketBytes &&
           // numbers of the norm go by themselves
           typeOf(op.getInput()).getRank() > 0 && !op.getInput().getDefiningOp<nn::StackOp>() &&
           llvm::all_of(op.getAxes().getRefs(),
                        [&](const dist::AxisRef &ref) { return llvm::is_contained(data, ref); });
  }
  static int64_t bytesOf(CollectiveOp op) {
    return std::max(byteSize(cast<ShapedType>(op.getInput().getType())),
                    byteSize(cast<ShapedType>(op.getResult(0).getType())));
  }
  static Key keyOf(CollectiveOp op) {
    return {op.getKind(), op.getReduction(), op.getAxes(), typeOf(op.getInput()).getElementType()};
  }

  void visit(Operation *op) {
    for (Value operand : op->getOperands())
      if (auto waited = waitsFor.find(operand.getDefiningOp()); waited != waitsFor.end()) {
        Key key = waited->second;
        if (mayWait(op))
          return wait(op, key);
        flush(key);
      }
    auto collective = dyn_cast<CollectiveOp>(op);
    if (!collective || !takesPart(collective))
      return;
    Key key = keyOf(collective);
    if (collective.getKind() == CollectiveKind::AllGather && joinEarlier(collective))
      return;
    if (Bucket *known = open.find(key); known && known->bytes + bytesOf(collective) > bucketBytes)
      flush(key);
    Bucket &bucket = open.at(key);
    bucket.members.push_back(collective);
    bucket.bytes += bytesOf(collective);
    waitsFor[op] = key;
  }

  // ---- reductions, and gathers of what is computed: the last member stays where it is
  /// An op that uses several open buckets waits for the last one that is closed.
  static bool mayWait(Operation *op) {
    return isa<StoreOp>(op) || isMemoryEffectFree(op) || isa<nn::NNDialect>(op->getDialect());
  }
  void wait(Operation *op, Key key) {
    for (Value operand : op->getOperands())
      if (auto other = waitsFor.find(operand.getDefiningOp()); other != waitsFor.end() && other->second != key)
        flush(other->second);
    waitsFor[op] = key;
    open.at(key).waiting.push_back(op);
  }

  void flush(Key key) {
    Bucket bucket = open.take(key);
    for (CollectiveOp member : bucket.members)
      waitsFor.erase(member);
    Operation *last = bucket.members.back();
    for (Operation *op : bucket.waiting) {
      waitsFor.erase(op);
      if (op->isBeforeInBlock(last))
        op->moveAfter(last);
      last = op;
    }
    emit(bucket.members, bucket.members.back());
  }

  // ---- gathers of what is loaded: the first member stays where it is
  bool joinEarlier(CollectiveOp gather) {
    Key key = keyOf(gather);
    if (!isLoaded(gather.getInput()))
      return false;
    if (Bucket *known = early.find(key); known && known->bytes + bytesOf(gather) > bucketBytes)
      closeEarly(key);
    Bucket &bucket = early.at(key);
    if (!bucket.members.empty())
      raiseBefore(gather.getInput().getDefiningOp(), bucket.members.front());
    bucket.members.push_back(gather);
    bucket.bytes += bytesOf(gather);
    return true;
  }
  static bool isLoaded(Value value) {
    Operation *def = value.getDefiningOp();
    return isa<LoadOp>(def) || (mayRaise(def) && llvm::all_of(def->getOperands(), isLoaded));
  }
  static bool mayRaise(Operation *op) { return isMemoryEffectFree(op) && !isa<CollectiveOp>(op); }
  /// Moves `op`, and the loads and the work on them that it uses, before `place`.
  void raiseBefore(Operation *op, Operation *place) {
    if (op->getBlock() != place->getBlock() || op->isBeforeInBlock(place)) // a buffer is declared outside of bodies
      return;
    for (Value operand : op->getOperands())
      raiseBefore(operand.getDefiningOp(), place);
    op->moveBefore(place);
  }
  void closeEarly(Key key) {
    Bucket bucket = early.take(key);
    emit(bucket.members, bucket.members.front());
  }

  // ---- one message
  static std::string causesOf(ArrayRef<CollectiveOp> members) {
    llvm::StringSet<> seen;
    std::string text;
    size_t more = 0;
    for (CollectiveOp member : members) {
      if (!seen.insert(member.getCause()).second)
        continue;
      if (seen.size() > 3)
        ++more;
      else
        text += (text.empty() ? "" : "; ") + member.getCause().str();
    }
    return more ? text + "; and " + std::to_string(more) + " more" : text;
  }

  void emit(ArrayRef<CollectiveOp> members, CollectiveOp at) {
    if (members.size() == 1)
      return;
    OpBuilder builder(at);
    CollectiveOp first = members.front();
    int64_t ranks = dist::axesSize(mesh, at.getAxes().getRefs());
    int64_t piecesIn = at.getKind() == CollectiveKind::ReduceScatter ? ranks : 1;
    int64_t piecesOut = at.getKind() == CollectiveKind::AllGather ? ranks : 1;
    SmallVector<int64_t> firsts;
    int64_t piece = 0;
    for (CollectiveOp member : members) {
      firsts.push_back(piece);
      piece += typeOf(member.getInput()).getNumElements() / piecesIn;
    }
    Type element = typeOf(at.getInput()).getElementType();
    auto bucketType = [&](int64_t pieces) {
      return pieces == 1 ? RankedTensorType::get({piece}, element) : RankedTensorType::get({pieces, piece}, element);
    };
    Value bucket;
    for (size_t i = 0; i < members.size(); ++i) {
      CollectiveOp member = members[i];
      bucket = PlaceOp::create(builder, member.getLoc(), bucketType(piecesIn), member.getInput(), piecesIn, firsts[i],
                               bucket);
    }
    auto path = first->getAttrOfType<StringAttr>("path");
    auto phase = first->getAttrOfType<nn::PhaseAttr>("phase");
    Value result =
        CollectiveOp::create(builder, first.getLoc(), TypeRange{bucketType(piecesOut)}, at.getKind(), at.getReduction(),
                             bucket, ValueRange{}, at.getAxes(), DenseI64ArrayAttr(), StringAttr(),
                             builder.getStringAttr(causesOf(members)), path, phase, ArrayAttr())
            .getResult(0);
    for (size_t i = 0; i < members.size(); ++i) {
      CollectiveOp member = members[i];
      Value part =
          PartOp::create(builder, member.getLoc(), member.getResult(0).getType(), result, piecesOut, firsts[i]);
      member.getResult(0).replaceAllUsesWith(part);
    }
    for (CollectiveOp member : members)
      member.erase();
  }

  BodyOp body;
  dist::MeshOp mesh;
  ArrayRef<dist::AxisRef> data;
  int64_t bucketBytes;
  Buckets open, early;
  llvm::DenseMap<Operation *, Key> waitsFor;
};
} // namespace

void hocket::step::coalesceCollectives(ProgramOp program, dist::MeshOp mesh, ArrayRef<dist::AxisRef> data,
                                       int64_t bucketBytes) {
  for (auto body : program.ops<BodyOp>()) {
    BodyCoalescer(body, mesh, data, bucketBytes).run();
  }
}
