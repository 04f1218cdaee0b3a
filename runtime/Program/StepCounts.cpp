// See StepCounts.h. Ranks of a stage do the same, so one of each is counted.
#include "runtime/Program/StepCounts.h"
#include "runtime/Program/OpKinds.h"
#include "runtime/Program/ProgramFile.h"
#include <algorithm>

namespace hocket::program {
namespace {
struct RankCounts {
  double flops = 0;
  uint64_t sentBytes = 0;
};

class Counter {
public:
  Counter(const Mesh &mesh, const Program &program, uint32_t rank)
      : mesh(mesh), program(program), rank(rank), own(*program.ranks()->Get(stageOf(mesh, program, rank))) {}

  RankCounts count() {
    std::vector<RankCounts> bodies; // of one run each
    for (const Body *body : *own.bodies())
      bodies.push_back(ofBody(*body));
    RankCounts sum;
    for (const Entry *entry : *own.entries()) {
      if (entry->name()->string_view() != trainEntry)
        continue;
      for (const Row *row : *entry->rows()) {
        RankCounts one;
        if (row->kind() == RowKind::Body)
          one = bodies[row->index()];
        else if (row->kind() == RowKind::Send)
          one.sentBytes = own.messages()->Get(row->index())->buffer()->bytes();
        sum.flops += one.flops;
        sum.sentBytes += one.sentBytes;
      }
    }
    return sum;
  }

private:
  RankCounts ofBody(const Body &body) const {
    RankCounts sum;
    for (const Instruction *each : *body.instructions())
      switch (each->op()) {
      case Op::Kernel:
        sum.flops += static_cast<double>(program.kernels()->Get(each->kernel())->flops());
        break;
      case Op::Gemm:
        sum.flops += 2.0 * static_cast<double>(each->gemm()->m()) * static_cast<double>(each->gemm()->n()) *
                     static_cast<double>(each->gemm()->k()) * static_cast<double>(each->gemm()->batch());
        break;
      default:
        if (isCollective(each->op()))
          sum.sentBytes += sentBy(*each);
      }
    return sum;
  }

  uint64_t sentBy(const Instruction &collective) const {
    uint64_t n = members(mesh, rank, *program.communicators()->Get(collective.communicator())).size();
    uint64_t bytes = std::max(collective.buffers()->Get(0)->bytes(), collective.buffers()->Get(1)->bytes());
    if (collective.op() == Op::Shift)
      return n > 1 ? bytes : 0;
    return n ? (collective.op() == Op::AllReduce ? 2 : 1) * bytes * (n - 1) / n : 0;
  }

  const Mesh &mesh;
  const Program &program;
  uint32_t rank;
  const RankProgram &own;
};
} // namespace

StepCounts countStep(const Mesh &mesh, const Program &program) {
  StepCounts result;
  std::vector<bool> counted(program.ranks()->size());
  uint64_t ranksOfStage = mesh.worldSize() / program.ranks()->size();
  for (uint32_t rank = 0; rank < mesh.worldSize(); ++rank) {
    uint32_t stage = stageOf(mesh, program, rank);
    if (counted[stage])
      continue;
    counted[stage] = true;
    RankCounts one = Counter(mesh, program, rank).count();
    result.flops += one.flops * static_cast<double>(ranksOfStage);
    result.sentBytes += one.sentBytes * ranksOfStage;
    result.mostSentBytes = std::max(result.mostSentBytes, one.sentBytes);
  }
  return result;
}

} // namespace hocket::program
