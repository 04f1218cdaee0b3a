// Walks the stream that computes and asks of each row that starts late what it waited for.
#include "passes/Schedule/IdleTime.h"

#include <algorithm>

namespace hocket::schedule {

const char *name(IdleCause cause) {
  static const char *const names[idleCauses] = {"warm-up", "cool-down", "waits for an activation",
                                                "waits for a gradient", "waits for a slot"};
  return names[unsigned(cause)];
}

namespace {

/// One stage's rows with their times.
class StageTimes {
public:
  StageTimes(const Tables &tables, uint32_t stage, const std::vector<double> &start, const std::vector<double> &end)
      : tables(tables), table(tables.stages[stage]), start(start), end(end) {
    for (size_t i = 0; i < table.rows.size(); ++i) {
      streams[table.rows[i].stream].push_back(i);
      if (isBody(i, BodyKind::Forward) || isBody(i, BodyKind::Evaluate))
        lastForward = i;
      if (isBody(i, BodyKind::Backward))
        firstBackward = std::min(firstBackward, i);
    }
  }

  std::vector<IdleTime> gaps(double makespan) const {
    std::vector<IdleTime> gaps;
    double done = 0;
    bool drains = streams[0].empty();
    for (size_t i : streams[0]) {
      if (start[i] > done + tolerance)
        gaps.push_back({done, start[i],
                        i <= firstBackward ? IdleCause::WarmUp
                        : drains           ? IdleCause::CoolDown
                                           : causeOf(i)});
      done = std::max(done, end[i]);
      drains |= i == lastForward;
    }
    if (makespan > done + tolerance)
      gaps.push_back({done, makespan, IdleCause::CoolDown});
    return gaps;
  }

private:
  static constexpr double tolerance = 1e-9;
  static constexpr size_t nowhere = ~size_t(0);
  bool isBody(size_t i, BodyKind kind) const {
    return table.rows[i].kind == RowKind::Body && bodyKind(table.rows[i]) == kind;
  }

  IdleCause causeOf(size_t i) const {
    // The row that it waited for longest; a receive may be that through the stream's own rows before.
    size_t last = nowhere;
    for (unsigned s = 1; s < maxStreams; ++s)
      if (uint32_t count = table.rows[i].wait[s])
        if (size_t row = streams[s][count - 1]; last == nowhere || end[row] > end[last])
          last = row;
    if (last == nowhere || table.rows[last].kind != RowKind::Receive)
      return IdleCause::Slot;
    return tables.messages[table.rows[last].index].values == Values::Activation ? IdleCause::Activation
                                                                                : IdleCause::Gradient;
  }

  const Tables &tables;
  const Table &table;
  const std::vector<double> &start, &end;
  std::array<std::vector<size_t>, maxStreams> streams;
  size_t firstBackward = nowhere, lastForward = nowhere;
};

} // namespace

std::vector<IdleTime> idleTimes(const Tables &tables, uint32_t stage, const std::vector<double> &start,
                                const std::vector<double> &end, double makespan) {
  return StageTimes(tables, stage, start, end).gaps(makespan);
}

std::vector<IdleTime> idleTimes(const Tables &tables, uint32_t stage, const Simulation &simulation) {
  return idleTimes(tables, stage, simulation.start[stage], simulation.end[stage], simulation.makespan);
}

std::array<double, idleCauses> sumByCause(const std::vector<IdleTime> &gaps) {
  std::array<double, idleCauses> sums{};
  for (const IdleTime &gap : gaps)
    sums[unsigned(gap.cause)] += gap.end - gap.start;
  return sums;
}

} // namespace hocket::schedule
