// Ranks as processes that share cores (processor sharing): between two events every rank that computes does so at one
// rate.
#include "tools/hocket/MachineSimulation.h"
#include "runtime/Program/Mesh.h"
#include "runtime/Program/OpKinds.h"
#include "tools/hocket/ProgramTables.h"
#include <algorithm>
#include <map>
#include <numeric>
using namespace hocket;
using namespace hocket::tools;

uint32_t Machine::cores() const { return uint32_t(std::accumulate(coresOf.begin(), coresOf.end(), 0.0)); }

namespace {
/// What one rank has reached.
struct Rank {
  const program::RankProgramT *stage = nullptr;
  std::vector<std::vector<const program::Row *>> streams;
  std::vector<uint32_t> done; ///< by stream, rows that have finished
  std::vector<bool> posted;   ///< by stream, whether its next message has been posted
  size_t instruction = 0;     ///< of the running body
  size_t ran = 0;             ///< instructions of the step
  bool inBody = false, joined = false;
  double left = 0;                                        ///< of the running instruction's work
  std::map<uint32_t, uint64_t> joins;                     ///< collectives begun, by communicator
  std::map<std::pair<uint32_t, bool>, uint64_t> messages; ///< posted, by communicator and whether it sends
};

class Simulation {
public:
  Simulation(const program::ProgramT &program, const Machine &machine, const std::vector<std::vector<double>> &work)
      : program(program), machine(machine), work(work), mesh(meshOf(program)), ranks(mesh.worldSize()) {
    for (uint32_t r = 0; r < ranks.size(); ++r) {
      Rank &rank = ranks[r];
      rank.stage = program.ranks[program.stageAxis < 0 ? 0 : mesh.coordinates(r)[program.stageAxis]].get();
      for (const program::Row &row : trainingOf(*rank.stage).rows) {
        rank.streams.resize(std::max<size_t>(rank.streams.size(), row.stream() + 1u));
        rank.streams[row.stream()].push_back(&row);
      }
      rank.done.assign(rank.streams.size(), 0);
      rank.posted.assign(rank.streams.size(), false);
    }
  }

  std::optional<double> run() {
    for (double now = 0;;) {
      while (settle()) {
      }
      double step = untilNext();
      if (step < 0)
        return finished() ? std::optional(now) : std::nullopt;
      now += step;
      for (uint32_t r = 0; r < ranks.size(); ++r)
        if (Rank &rank = ranks[r]; rank.left > 0)
          rank.left = std::max(0.0, rank.left - step * rate[machine.hostOf[r]]);
    }
  }

private:
  static program::Mesh meshOf(const program::ProgramT &program) {
    std::vector<program::Mesh::Axis> axes;
    for (auto &axis : program.axes)
      axes.push_back({axis->name, axis->size});
    return program::Mesh(std::move(axes));
  }

  const std::vector<uint32_t> &members(uint32_t rank, uint32_t communicator) {
    auto [it, isNew] = groups.try_emplace({rank, communicator});
    if (isNew) {
      flatbuffers::FlatBufferBuilder builder;
      builder.Finish(program::CreateCommunicator(builder, program.communicators[communicator].get()));
      it->second =
          program::members(mesh, rank, *flatbuffers::GetRoot<program::Communicator>(builder.GetBufferPointer()));
    }
    return it->second;
  }

  bool ready(const Rank &rank, size_t stream) const {
    if (rank.done[stream] == rank.streams[stream].size())
      return false;
    const program::Row &row = *rank.streams[stream][rank.done[stream]];
    for (size_t other = 0; other < rank.done.size(); ++other)
      if (rank.done[other] < row.wait()->Get(other))
        return false;
    return true;
  }

  /// One pass over all ranks of what takes no time; whether anything moved.
  bool settle() {
    bool moved = false;
    for (uint32_t r = 0; r < ranks.size(); ++r) {
      for (size_t stream = 1; stream < ranks[r].streams.size(); ++stream)
        moved |= moveMessage(r, stream);
      moved |= compute(r);
    }
    return moved;
  }

  bool moveMessage(uint32_t r, size_t stream) {
    Rank &rank = ranks[r];
    if (!rank.posted[stream] && !ready(rank, stream))
      return false;
    const program::Row &row = *rank.streams[stream][rank.done[stream]];
    uint32_t edge = rank.stage->messages[row.index()]->communicator;
    bool sends = row.kind() == program::RowKind::Send, moved = !rank.posted[stream];
    if (moved) {
      rank.posted[stream] = true;
      ++rank.messages[{edge, sends}];
    }
    for (uint32_t peer : members(r, edge))
      if (peer != r && ranks[peer].messages[{edge, !sends}] >= rank.messages[{edge, sends}]) {
        rank.posted[stream] = false;
        ++rank.done[stream];
        return true;
      }
    return moved;
  }

  /// Whether all members have come to as many of the communicator's collectives as this rank.
  bool allHaveJoined(uint32_t r, uint32_t communicator) {
    const std::vector<uint32_t> &all = members(r, communicator);
    return std::all_of(all.begin(), all.end(), [&](uint32_t member) {
      return ranks[member].joins[communicator] >= ranks[r].joins[communicator];
    });
  }

  /// Goes on to the next work, or to the next thing to wait for.
  bool compute(uint32_t r) {
    Rank &rank = ranks[r];
    if (rank.left > 0)
      return false;
    if (!rank.inBody) {
      if (!ready(rank, 0))
        return false;
      rank.inBody = true;
      rank.instruction = 0;
      return true;
    }
    const auto &instructions = rank.stage->bodies[rank.streams[0][rank.done[0]]->index()]->instructions;
    if (rank.instruction == instructions.size()) {
      rank.inBody = false;
      ++rank.done[0];
      return true;
    }
    const program::InstructionT &instruction = *instructions[rank.instruction];
    bool collective = program::isCollective(instruction.op), moved = false;
    if (instruction.stream && instruction.op != program::Op::Await) { // beside the work: only the await takes time
      if (collective)
        ++rank.joins[instruction.communicator];
      ++rank.instruction;
      return true;
    }
    if (collective) {
      if (!rank.joined) {
        rank.joined = moved = true;
        ++rank.joins[instruction.communicator];
      }
      if (!allHaveJoined(r, instruction.communicator))
        return moved;
    }
    if (instruction.op == program::Op::Await)
      for (size_t i = 0; i < rank.instruction; ++i)
        if (instructions[i]->stream == instruction.stream && program::isCollective(instructions[i]->op) &&
            !allHaveJoined(r, instructions[i]->communicator))
          return false;
    rank.joined = false;
    rank.left = work[r][rank.ran++];
    ++rank.instruction;
    return true;
  }

  /// Until the first rank that computes is done with its instruction; below 0: none computes. Sets the hosts' rates.
  double untilNext() {
    std::vector<double> wanted(machine.coresOf.size(), 0);
    double threads = std::max<uint32_t>(program.threads, 1), least = -1;
    for (uint32_t r = 0; r < ranks.size(); ++r)
      if (ranks[r].left > 0)
        wanted[machine.hostOf[r]] += threads;
    rate.assign(wanted.size(), 1);
    for (size_t host = 0; host < wanted.size(); ++host)
      if (wanted[host] > machine.coresOf[host])
        rate[host] = machine.coresOf[host] / wanted[host];
    for (uint32_t r = 0; r < ranks.size(); ++r)
      if (double left = ranks[r].left / rate[machine.hostOf[r]]; left > 0)
        least = least < 0 ? left : std::min(least, left);
    return least;
  }

  bool finished() const {
    return std::all_of(ranks.begin(), ranks.end(), [](const Rank &rank) {
      for (size_t stream = 0; stream < rank.streams.size(); ++stream)
        if (rank.done[stream] < rank.streams[stream].size())
          return false;
      return true;
    });
  }

  const program::ProgramT &program;
  const Machine &machine;
  const std::vector<std::vector<double>> &work;
  program::Mesh mesh;
  std::vector<Rank> ranks;
  std::vector<double> rate; ///< by host, of a processor's work per microsecond of a rank that computes
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> groups; ///< by rank and communicator
};
} // namespace

std::optional<double> hocket::tools::simulateMachine(const program::ProgramT &program, const Machine &machine,
                                                     const std::vector<std::vector<double>> &work) {
  return Simulation(program, machine, work).run();
}
