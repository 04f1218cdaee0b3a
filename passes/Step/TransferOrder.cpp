// See TransferOrder.h.
#include "passes/Step/TransferOrder.h"
#include "passes/Step/HostMemory.h"
#include "passes/Step/OverlapOrder.h"
#include "passes/Step/SlotMemory.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

namespace {
struct Moved {
  TransferOp transfer;
  Operation *at; ///< where it is used (fetched) or made (leaves)
  int64_t bytes;
  size_t group = 0;
};

/// What belongs together, and how much that is.
struct Groups {
  SmallVector<int64_t> bytes;
  int64_t largest = 0;

  Groups(MutableArrayRef<Moved> all, bool once) {
    // Pieces of optimizer state: one op each. A piece that is small beside the largest is joined by those behind it.
    constexpr int64_t small = 8;
    int64_t largestPiece = 0;
    for (size_t i = 0, begin = 0; i < all.size(); ++i) {
      begin = all[i].at == all[begin].at ? begin : i;
      largestPiece = std::max(largestPiece, sum(all.slice(begin, i + 1 - begin)));
    }
    for (size_t i = 0; i < all.size(); ++i) {
      bool next = i == 0 || (once ? all[i].at != all[i - 1].at && bytes.back() * small >= largestPiece
                                  : layer(all[i]) != layer(all[i - 1]));
      if (next)
        bytes.push_back(0);
      bytes.back() += all[i].bytes;
      all[i].group = bytes.size() - 1;
      largest = std::max(largest, bytes.back());
    }
  }

private:
  static int64_t sum(ArrayRef<Moved> some) {
    int64_t total = 0;
    for (const Moved &one : some)
      total += one.bytes;
    return total;
  }
  static StringRef layer(const Moved &one) {
    StringRef path = nn::getPath(one.transfer), layer = layerOf(path);
    return layer.empty() ? path : layer;
  }
};

class TransferOrder {
public:
  explicit TransferOrder(BodyOp body) : body(body), block(body.getBody().front()), order(body) {
    for (auto transfer : block.getOps<TransferOp>()) {
      auto load = transfer.getInput().getDefiningOp<LoadOp>();
      bool comes = load && inHost(load.getBuffer().getDefiningOp<BufferOp>());
      if (comes && !transfer.getResult(0).use_empty())
        fetched.push_back({transfer, order.firstUser(transfer.getResult(0)), bytesOf(transfer)});
      else if (!comes && storedOnce(transfer))
        leaving.push_back({transfer, transfer.getInput().getDefiningOp(), bytesOf(transfer)});
    }
  }

  void run() {
    for (Moved &one : leaving)
      raiseToMaker(one);
    auto before = [](Operation *a, Operation *b) { return a != b && a->isBeforeInBlock(b); };
    llvm::sort(fetched, [&](const Moved &a, const Moved &b) {
      return a.at == b.at ? before(a.transfer, b.transfer) : before(a.at, b.at);
    });
    llvm::sort(leaving, [&](const Moved &a, const Moved &b) { return before(a.transfer, b.transfer); });
    startAhead();
    awaitLate();
    name(fetched, "fetch");
    name(leaving, "offload");
  }

private:
  static int64_t bytesOf(TransferOp transfer) {
    return aligned(byteSize(cast<ShapedType>(transfer.getResult(0).getType())));
  }

  /// Whether all that becomes of it here is one store, and nothing else here touches that buffer afterwards.
  bool storedOnce(TransferOp transfer) const {
    Value result = transfer.getResult(0);
    auto store = result.hasOneUse() ? dyn_cast<StoreOp>(*result.getUsers().begin()) : StoreOp();
    return store && llvm::none_of(store.getBuffer().getUsers(), [&](Operation *user) {
             return user != store && user->getBlock() == &block && isa<LoadOp, StoreOp>(user) &&
                    (isa<StoreOp>(user) || store->isBeforeInBlock(user));
           });
  }

  /// Behind what makes its operand; that may be on a stream itself, and then is not to be awaited so soon.
  void raiseToMaker(Moved &one) {
    if (!one.at || one.at->getBlock() != &block || one.at->hasAttr("stream"))
      return;
    Operation *after = one.at;
    while (isa_and_present<TransferOp>(after->getNextNode()) && after->getNextNode() != one.transfer)
      after = after->getNextNode();
    if (after->isBeforeInBlock(one.transfer))
      one.transfer->moveAfter(after);
  }

  /// Each one at the first use of the earliest one of the group before it behind which no more than its own group's
  /// bytes lie ahead.
  void startAhead() {
    Groups groups(fetched, runsOnce(body.getKind()));
    int64_t ahead = 0; // bytes of (from, j]
    size_t from = 0;   // the first one that is in use when j starts
    for (size_t j = 0; j < fetched.size(); ++j) {
      ahead += j ? fetched[j].bytes : 0;
      size_t group = fetched[j].group;
      while (from < j && (fetched[from].group + 1 < group || ahead > groups.bytes[group]) &&
             fetched[from + 1].group < group)
        ahead -= fetched[++from].bytes;
      Operation *place = group ? fetched[from].at : order.firstWork();
      if (place && place != fetched[j].transfer)
        order.raise(fetched[j].transfer, place);
    }
  }

  void awaitLate() {
    Groups groups(leaving, runsOnce(body.getKind()));
    int64_t open = 0; // bytes of [from, j]
    size_t from = 0;
    auto store = [](Moved &one) { return *one.transfer.getResult(0).getUsers().begin(); };
    for (size_t j = 0; j < leaving.size(); ++j)
      for (open += leaving[j].bytes; open > groups.largest; ++from) {
        store(leaving[from])->moveBefore(leaving[j].transfer);
        open -= leaving[from].bytes;
      }
    for (; from < leaving.size(); ++from)
      store(leaving[from])->moveBefore(&block, block.end());
  }

  void name(ArrayRef<Moved> all, StringRef stream) {
    for (TransferOp transfer : llvm::map_range(all, [](const Moved &one) { return one.transfer; }))
      transfer.setStreamAttr(StringAttr::get(body.getContext(), stream));
  }

  BodyOp body;
  Block &block;
  OverlapOrder order;
  SmallVector<Moved> fetched, leaving;
};
} // namespace

void hocket::step::placeTransfers(BodyOp body) { TransferOrder(body).run(); }
