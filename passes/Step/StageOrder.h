// What of a stage's rows is surely over when another starts, as its own streams and waits say (internal to
// passes/Step).
#pragma once
#include "dialect/Step/Step.h"
#include "passes/Schedule/HappensBefore.h"

namespace hocket::step {

/// The judge's view of one stage alone: its messages have no other end.
struct StageOrder {
  static schedule::Tables only(uint64_t stage, TableAttr table) {
    schedule::Tables tables;
    tables.messages.assign(table.getMessages().begin(), table.getMessages().end());
    uint64_t stages = stage + 1;
    for (const Message &message : tables.messages)
      stages = std::max<uint64_t>(stages, std::max(message.from, message.to) + 1);
    tables.stages.resize(stages);
    for (mlir::StringAttr stream : table.getStreams())
      tables.stages[stage].streams.push_back(stream.str());
    tables.stages[stage].rows.assign(table.getRows().begin(), table.getRows().end());
    return tables;
  }
  StageOrder(uint64_t stage, TableAttr table) : tables(only(stage, table)), graph(tables), order(graph, none, {}) {
    order.enterStage(stage);
    first = graph.firstOfStage[stage];
  }
  bool before(size_t a, size_t b) const {
    return order.beforeOnStage(first + schedule::RowId(a), first + schedule::RowId(b));
  }

  schedule::Tables tables;
  schedule::RowGraph graph;
  schedule::Execution none;
  schedule::HappensBefore order;
  schedule::RowId first = 0;
};
} // namespace hocket::step
