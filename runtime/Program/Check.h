// The semantic check of a program file, part by part (internal to runtime/Program; `check` runs them all). A part may
// rely on those before it having found nothing.
#ifndef HOCKET_RUNTIME_PROGRAM_CHECK_H
#define HOCKET_RUNTIME_PROGRAM_CHECK_H

#include "runtime/Program/Mesh.h"
#include "runtime/Program/ProgramFile.h"
#include <fmt/format.h>

namespace hocket::program {

inline constexpr uint64_t maxSize = uint64_t(1) << 48; // of a dimension or a memory; leaves room to multiply and add

struct CheckContext {
  const Program &program;
  std::vector<std::string> faults;
  uint32_t stages = 1;

  template <class... Args> void fault(fmt::format_string<Args...> text, Args &&...args) {
    constexpr size_t most = 32;
    if (faults.size() < most)
      faults.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  // Every enum of the schema starts at 0 without gaps. `where` is anything that fmt prints; it is printed only in a
  // fault.
  template <class E, class Where> bool enumIn(E value, const Where &where, const char *what) {
    if (value <= E::MAX)
      return true;
    fault("{}: {} {}, expected 0 to {}", where, what, static_cast<int>(value), static_cast<int>(E::MAX));
    return false;
  }
  template <class Where> bool indexIn(uint64_t index, uint64_t count, const Where &where, const char *what) {
    if (index < count)
      return true;
    fault("{}: {} {}, the program has {}", where, what, index, count);
    return false;
  }
  template <class Where> bool stringIn(uint32_t index, const Where &where) {
    return indexIn(index, program.strings()->size(), where, "string");
  }
};

// Number of ranks in a communicator, as seen from a stage that belongs to it; 0 if the stage does not.
uint32_t memberCount(const Program &program, const Communicator &communicator, uint32_t stage);
// Whether the communicator's ranks lie on several stages.
bool spansStages(const Program &program, const Communicator &communicator);
// Null where the stage has none of that name.
const Entry *findEntry(const RankProgram &rank, std::string_view name);
// The communicators of a body's collectives across stages, in order.
std::vector<uint32_t> crossingCollectives(const Program &program, const Body &body);
// Whether a buffer lies within the stage's memory (with all microbatches, within a slot).
bool checkBuffer(CheckContext &context, const RankProgram &rank, const Buffer &buffer, const std::string &where);
bool checkAxes(CheckContext &context, std::span<const AxisRef> axes, const std::string &where);

void checkMesh(CheckContext &context);
// The target, and the code of kernels for GPUs.
void checkTarget(CheckContext &context);
// Shapes that instructions refer to.
void checkShapes(CheckContext &context);
void checkBodies(CheckContext &context, const RankProgram &rank);
// Streams of bodies: what may run on them, and that everything started there is awaited.
void checkStreams(CheckContext &context, const RankProgram &rank);
// Scratch of kernels and workspace of products: within the arena, over nothing else.
void checkGpuMemory(CheckContext &context, const RankProgram &rank);
void checkState(CheckContext &context, const RankProgram &rank);
void checkSchedule(CheckContext &context, const RankProgram &rank);
// What the stages promise each other: messages in the same order and size on both ends, collectives in the same order
// and size on all members.
void checkAcrossStages(CheckContext &context);
// Rows of a program for "cuda" stand in an order in which they can be issued (IssueOrder.h). After all others.
void checkIssueOrder(CheckContext &context);

} // namespace hocket::program
#endif
