// See TraceTimes.h.
#include "tools/hocket/TraceTimes.h"
#include "passes/Schedule/IdleTime.h"
#include "runtime/Program/Mesh.h"
#include "runtime/Program/OpKinds.h"
#include "tools/hocket/InputText.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>
using namespace hocket;
using namespace hocket::tools;

namespace {
struct Event {
  std::string name;
  double start, end;
  double processor; ///< microseconds of one
};
/// One step of one rank: its events by stream, in order. Streams of bodies come behind those of the schedule.
constexpr unsigned traceStreams = schedule::maxStreams + 16;
using Step = std::array<std::vector<Event>, traceStreams>;

/// Where the event of an instruction is.
unsigned streamOf(const program::InstructionT &instruction) {
  bool beside = instruction.stream && instruction.op != program::Op::Await;
  return beside ? schedule::maxStreams + instruction.stream - 1 : 0;
}
/// How many events of a body are on the stream that computes: what runs beside it shows there as an await.
size_t computeEvents(const program::BodyT &body) {
  return std::count_if(body.instructions.begin(), body.instructions.end(),
                       [](const auto &instruction) { return streamOf(*instruction) == 0; });
}

class TraceReader {
public:
  TraceReader(const program::ProgramT &program, const ProgramTables &tables) : program(program), tables(tables) {
    std::vector<program::Mesh::Axis> axes;
    for (auto &axis : program.axes)
      axes.push_back({axis->name, axis->size});
    program::Mesh mesh(std::move(axes));
    for (uint32_t rank = 0; rank < mesh.worldSize(); ++rank)
      stageOf.push_back(program.stageAxis < 0 ? 0 : mesh.coordinates(rank)[program.stageAxis]);
  }

  std::optional<TraceTimes> read(const std::string &path, std::string &fault) {
    std::string why;
    std::optional<std::string> text = readInput(path, why);
    if (!text) {
      fault = fmt::format("cannot read '{}': {}", path, why);
      return std::nullopt;
    }
    nlohmann::json trace = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
    if (!trace.is_object() || !trace.contains("traceEvents") || !collect(trace["traceEvents"]) || hosts.empty()) {
      fault = fmt::format("'{}' is no trace of hocket-run", path);
      return std::nullopt;
    }
    if (strange) {
      fault = fmt::format("'{}' is no trace of this plan: it has rank {}, the plan has {} ranks", path, *strange,
                          stageOf.size());
      return std::nullopt;
    }
    if (steps.size() > 1)
      steps.erase(steps.begin());
    for (auto &[number, ranks] : steps)
      if (!fits(ranks)) {
        fault =
            fmt::format("'{}' is a trace of another program: in step {} the instructions of its {} ranks are not those "
                        "of this plan",
                        path, number, ranks.size());
        return std::nullopt;
      }
    if (steps.empty()) {
      fault = fmt::format("'{}' holds no step", path);
      return std::nullopt;
    }
    for (auto &[number, ranks] : steps)
      addStep(ranks);
    std::optional<double> onMachine = simulateMachine(program, result.machine, work);
    if (!onMachine) {
      fault = fmt::format("'{}' is a trace of a program whose step never ends", path);
      return std::nullopt;
    }
    result.onMachineMicroseconds = *onMachine;
    return finish();
  }

private:
  /// False if an event is none of ours.
  bool collect(const nlohmann::json &events) try {
    for (const nlohmann::json &event : events) {
      if (!event.is_object())
        continue;
      if (event.value("name", "") == "machine")
        addMachine(event);
      if (event.value("ph", "") != "X" || (event.contains("args") && event["args"].contains("evaluation")))
        continue;
      uint32_t rank = event.value("pid", 0u), stream = event.value("tid", 0u);
      if (stream >= traceStreams || !event.contains("args"))
        return false;
      if (rank >= stageOf.size()) {
        strange = std::min(strange.value_or(rank), rank);
        continue;
      }
      double start = event.value("ts", 0.0);
      steps[event["args"].value("step", uint64_t(0))][rank][stream].push_back(
          {event.value("name", ""), start, start + event.value("dur", 0.0), event.value("tdur", 0.0)});
    }
    return true;
  } catch (const nlohmann::json::exception &) { // a value of another type
    return false;
  }

  void addMachine(const nlohmann::json &event) {
    Machine &machine = result.machine;
    machine.hostOf.resize(stageOf.size());
    auto [it, isNew] = hosts.try_emplace(event.at("args").value("name", ""), uint32_t(hosts.size()));
    if (isNew)
      machine.coresOf.push_back(std::max(1u, event["args"].value("processors", 1u)));
    if (uint32_t rank = event.value("pid", 0u); rank < stageOf.size())
      machine.hostOf[rank] = it->second;
  }

  static const program::BodyT &bodyOf(const program::RankProgramT &stage, const program::Row &row) {
    return *stage.bodies[row.index()];
  }

  /// Every rank has one event for each instruction and message of the table.
  bool fits(const std::map<uint32_t, Step> &ranks) const {
    if (ranks.size() != stageOf.size())
      return false;
    for (auto &[rank, step] : ranks) {
      const program::RankProgramT &stage = *program.ranks[stageOf[rank]];
      std::array<size_t, traceStreams> wanted{};
      for (const program::Row &row : trainingOf(stage).rows)
        if (row.kind() != program::RowKind::Body)
          ++wanted[row.stream()];
        else
          for (const auto &instruction : bodyOf(stage, row).instructions)
            ++wanted[streamOf(*instruction)];
      for (size_t s = 0; s < wanted.size(); ++s)
        if (step[s].size() != wanted[s])
          return false;
    }
    return true;
  }

  /// Adds the instructions of one step of all ranks, and where each rank stood.
  void addStep(const std::map<uint32_t, Step> &ranks) {
    // Of collectives the shortest time of any rank: the last to come waits for nobody.
    std::map<std::tuple<std::string, uint32_t, uint32_t>, double> shortest;
    auto visit = [&](auto &&body, auto &&collective) {
      for (auto &[rank, step] : ranks) {
        const program::RankProgramT &stage = *program.ranks[stageOf[rank]];
        size_t next = 0;
        std::map<std::string, uint32_t> seen;
        for (const program::Row &row : trainingOf(stage).rows) {
          if (row.kind() != program::RowKind::Body || row.stream() != 0)
            continue;
          const auto &instructions = bodyOf(stage, row).instructions;
          for (size_t i = 0; i < instructions.size(); ++i) {
            if (streamOf(*instructions[i]) != 0)
              continue;
            const Event &event = step[0][next++];
            if (program::isCollective(instructions[i]->op) || instructions[i]->op == program::Op::Await)
              collective(rank, row, i, event,
                         std::tuple(event.name, instructions[i]->communicator, seen[event.name]++));
            else
              body(rank, row, i, event);
          }
        }
      }
    };
    visit([](auto &&...) {},
          [&](uint32_t, const program::Row &, size_t, const Event &event, auto key) {
            auto [it, isNew] = shortest.try_emplace(key, event.end - event.start);
            it->second = std::min(it->second, event.end - event.start);
          });
    std::map<uint32_t, double> waited;
    auto add = [&](uint32_t rank, const program::Row &row, size_t i, double time) {
      auto &[sum, count] = sums[{stageOf[rank], row.index(), i}];
      sum += time;
      ++count;
    };
    visit([&](uint32_t rank, const program::Row &row, size_t i,
              const Event &event) { add(rank, row, i, event.end - event.start); },
          [&](uint32_t rank, const program::Row &row, size_t i, const Event &event, auto key) {
            add(rank, row, i, shortest[key]);
            waited[rank] += event.end - event.start - shortest[key];
          });
    addWork(ranks);
    measureRanks(ranks, waited);
  }

  void addWork(const std::map<uint32_t, Step> &ranks) {
    work.resize(stageOf.size());
    for (auto &[rank, step] : ranks) {
      work[rank].resize(1 + traceStreams - schedule::maxStreams);
      for (size_t s = 0; s < work[rank].size(); ++s) {
        const std::vector<Event> &events = step[s ? schedule::maxStreams + s - 1 : 0];
        work[rank][s].resize(events.size());
        for (size_t i = 0; i < events.size(); ++i)
          work[rank][s][i] += events[i].processor / double(steps.size());
      }
    }
  }

  void measureRanks(const std::map<uint32_t, Step> &ranks, std::map<uint32_t, double> &waited) {
    double first = -1, last = 0;
    for (auto &[rank, step] : ranks)
      for (auto &events : step)
        for (const Event &event : events) {
          first = first < 0 ? event.start : std::min(first, event.start);
          last = std::max(last, event.end);
        }
    result.stepMicroseconds += last - first;
    result.ranks.resize(stageOf.size());
    for (auto &[rank, step] : ranks) {
      uint32_t stage = stageOf[rank];
      auto [start, end] = rowTimes(*program.ranks[stage], step, first);
      auto idle = schedule::sumByCause(schedule::idleTimes(tables.tables, stage, start, end, last - first));
      TraceTimes::Rank &sum = result.ranks[rank];
      sum.rank = rank;
      sum.stage = stage;
      sum.inCollectives += waited[rank];
      sum.busy += last - first - waited[rank];
      for (size_t i = 0; i < idle.size(); ++i) {
        sum.idle[i] += idle[i];
        sum.busy -= idle[i];
      }
    }
  }

  /// When each row of a rank started and ended, from the start of the step.
  std::pair<std::vector<double>, std::vector<double>> rowTimes(const program::RankProgramT &stage, const Step &step,
                                                               double first) {
    std::vector<double> start, end;
    std::array<size_t, schedule::maxStreams> next{};
    for (const program::Row &row : trainingOf(stage).rows) {
      auto &events = step[row.stream()];
      size_t &at = next[row.stream()];
      size_t count = row.kind() == program::RowKind::Body ? computeEvents(bodyOf(stage, row)) : 1;
      // A body of no instruction takes no time, where the one before it ended.
      double from = count ? events[at].start - first : end.empty() ? 0 : end.back();
      start.push_back(from);
      end.push_back(count ? events[at + count - 1].end - first : from);
      if (row.kind() != program::RowKind::Body)
        shortestMessage = std::min(shortestMessage, events[at].end - events[at].start);
      at += count;
    }
    return {std::move(start), std::move(end)};
  }

  TraceTimes finish() {
    uint32_t chunks = tables.tables.chunks;
    for (auto &[key, sum] : sums) {
      auto [stage, body, instruction] = key;
      bodyTimes[{stage, body}] += sum.first / double(sum.second);
    }
    result.times.resize(program.ranks.size() * chunks);
    for (auto &[key, time] : bodyTimes) {
      const program::BodyT &body = *program.ranks[key.first]->bodies[key.second];
      schedule::Times &times = result.times[key.first * chunks + body.chunk];
      switch (body.kind) {
      case program::BodyKind::Begin:
        times.begin = time;
        break;
      case program::BodyKind::Forward:
        times.forward = time;
        break;
      case program::BodyKind::Backward:
        times.backward = time;
        break;
      case program::BodyKind::FinalBackward: // of one microbatch; known alone where there is no other
        times.backward = times.backward ? times.backward : time;
        break;
      case program::BodyKind::FinalWeightGrad:
        times.weightGrad = times.weightGrad ? times.weightGrad : time;
        break;
      case program::BodyKind::WeightGrad:
        times.weightGrad = time;
        break;
      case program::BodyKind::Recompute:
        times.recompute = time;
        break;
      default:
        times.update = time;
      }
    }
    for (schedule::Times &times : result.times)
      times.communication = shortestMessage < noMessage ? shortestMessage : 0;
    double count = double(steps.size());
    result.steps = steps.size();
    result.stepMicroseconds /= count;
    for (TraceTimes::Rank &rank : result.ranks) {
      rank.busy /= count;
      rank.inCollectives /= count;
      for (double &idle : rank.idle)
        idle /= count;
    }
    return std::move(result);
  }

  static constexpr double noMessage = 1e300;
  double shortestMessage = noMessage;
  const program::ProgramT &program;
  const ProgramTables &tables;
  std::vector<uint32_t> stageOf;                                                    // by rank
  std::map<uint64_t, std::map<uint32_t, Step>> steps;                               // by number, rank
  std::map<std::tuple<uint32_t, uint32_t, size_t>, std::pair<double, size_t>> sums; // stage, body, instruction
  std::map<std::pair<uint32_t, uint32_t>, double> bodyTimes;                        // stage, body
  std::vector<ProcessorTimes> work;                                                 // by rank
  std::map<std::string, uint32_t> hosts;                                            // by name
  std::optional<uint32_t> strange; // a rank that the plan does not have
  TraceTimes result;
};
} // namespace

std::optional<TraceTimes> hocket::tools::readTrace(const program::ProgramT &program, const ProgramTables &tables,
                                                   const std::string &path, std::string &fault) {
  return TraceReader(program, tables).read(path, fault);
}
