// Programs for "cuda" made of the tables of a schedule: bodies compute nothing, but may communicate.
#pragma once
#include "passes/Schedule/Solvers.h"
#include "runtime/Program/ProgramFile.h"
#include <map>

namespace hocket {

std::string text(const schedule::Faults &faults);

/// The tables of a named schedule, and what problem they solve.
schedule::Tables solved(const std::string &name, uint32_t stages, uint32_t chunks, uint32_t microbatches, bool evaluate,
                        schedule::Problem &problem);

/// What bodies do beside the sum over all stages in the last: in each of them
///   starts two collectives over "dp" on every stream of bodies, sums over "tp" twice, and awaits what it has started.
struct Inside {
  uint32_t dp = 1, tp = 1;
  uint16_t streams = 0;  ///< of bodies
  bool computes = false; ///< the sums over "tp"
};

class ScheduleProgram {
public:
  program::ProgramT made;

  explicit ScheduleProgram(const schedule::Tables &tables, Inside inside = {});

  const program::Program &packed();
  /// Puts its rows, and the tables', in the order of issue; false where there is none.
  bool order(schedule::Tables &tables);

private:
  program::AxisRef axis(uint32_t index) const { return program::AxisRef(index, 1, made.axes[index]->size); }
  uint32_t add(const std::string &name, program::CommunicatorKind kind, uint32_t axis, uint32_t from, uint32_t to);
  void addStage(uint32_t stage);
  void addBody(program::RankProgramT &rank, const schedule::Row &row);
  void addMessage(program::RankProgramT &rank, const schedule::Message &message);

  const schedule::Tables &tables;
  Inside inside;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> edges; ///< their communicators
  uint32_t overTp = 0, overDp = 0;                         ///< the latter of the first stream, the others behind it
  flatbuffers::FlatBufferBuilder builder;
};
} // namespace hocket
