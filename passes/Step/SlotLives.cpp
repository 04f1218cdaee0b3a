// Groups a stage's rows by microbatch and asks the judge's clocks what is before what.
#include "passes/Step/SlotLives.h"
#include "passes/Step/StageOrder.h"
using namespace hocket;
using namespace hocket::step;

namespace {
class LifeMaker {
public:
  LifeMaker(const StageOrder &order, llvm::ArrayRef<Row> rows, llvm::ArrayRef<size_t> own) : order(order), rows(rows) {
    for (size_t row : own)
      (rows[row].kind == RowKind::Body ? bodies : messages).push_back(row);
    // One that follows another has more of them before it.
    auto before = [&](size_t row) { return llvm::count_if(messages, [&](size_t m) { return order.before(m, row); }); };
    std::stable_sort(messages.begin(), messages.end(), [&](size_t a, size_t b) { return before(a) < before(b); });
  }

  SlotLife make() {
    SlotLife life;
    for (size_t row : bodies)
      life.bodies.push_back({static_cast<BodyKind>(rows[row].index % kBodyKinds), rows[row].index / kBodyKinds});
    for (auto [place, row] : llvm::enumerate(messages)) {
      uint32_t after = 0, over = 0;
      while (after < bodies.size() && order.before(bodies[after], row))
        ++after;
      while (over < bodies.size() && !order.before(row, bodies[over]))
        ++over;
      life.traffic.push_back({after, over, rows[row].index, {}});
      for (size_t other = 0; other < place; ++other)
        if (order.before(messages[other], row))
          life.traffic.back().follows.push_back(other);
    }
    return life;
  }

private:
  const StageOrder &order;
  llvm::ArrayRef<Row> rows;
  std::vector<size_t> bodies, messages;
};

bool onceAStep(const Row &row) {
  return row.kind == RowKind::Body && runsOnce(static_cast<BodyKind>(row.index % kBodyKinds));
}
} // namespace

std::map<uint64_t, std::set<SlotLife>> hocket::step::slotLives(ProgramOp program, const SlotChains &chains,
                                                               TableAttr table) {
  StageOrder order(program.getStage(), table);
  llvm::ArrayRef<Row> rows = table.getRows();
  std::map<std::pair<uint64_t, uint32_t>, llvm::SmallVector<size_t>> own; // by chain, microbatch
  for (auto [i, row] : llvm::enumerate(rows)) {
    uint64_t chunk = row.index / kBodyKinds;
    if (row.kind != RowKind::Body) {
      const Message &message = table.getMessages()[row.index];
      chunk = row.kind == RowKind::Send ? message.fromChunk : message.toChunk;
    }
    if (!onceAStep(row) && chunk < chains.chunks())
      own[{chains.head(chunk), row.microbatch}].push_back(i);
  }
  std::map<uint64_t, std::set<SlotLife>> lives;
  for (auto &[key, list] : own)
    lives[key.first].insert(LifeMaker(order, rows, list).make());
  return lives;
}

std::vector<Row> hocket::step::openAtUpdate(ProgramOp program, TableAttr table) {
  llvm::ArrayRef<Row> rows = table.getRows();
  const Row *update = llvm::find_if(rows, [](const Row &row) {
    return row.kind == RowKind::Body && row.index % kBodyKinds == static_cast<unsigned>(BodyKind::Update);
  });
  std::vector<Row> open;
  if (update == rows.end())
    return open;
  StageOrder order(program.getStage(), table);
  for (auto [i, row] : llvm::enumerate(rows))
    if (!onceAStep(row) && !order.before(i, update - rows.begin()))
      open.push_back(row);
  return open;
}
