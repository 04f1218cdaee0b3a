// Finds out what a schedule that was read is for.
#include "passes/Schedule/UserSchedule.h"

#include "passes/Schedule/ActionsText.h"
#include "passes/Schedule/Judge.h"
#include "passes/Schedule/TableText.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace hocket::schedule {
namespace {

bool less(const Place &a, const Place &b) { return std::pair(a.stage, a.chunk) < std::pair(b.stage, b.chunk); }

/// Follows activations from chunk to chunk.
class Route {
public:
  Route(const Tables &tables, Faults &faults) : tables(tables), faults(faults) {
    for (const Message &message : tables.messages)
      if (message.values == Values::Activation) {
        link(next, {message.from, message.fromChunk}, {message.to, message.toChunk}, "goes to");
        link(previous, {message.to, message.toChunk}, {message.from, message.fromChunk}, "comes from");
      }
  }

  std::optional<std::vector<Place>> find() {
    size_t wanted = tables.stages.size() * tables.chunks;
    std::vector<Place> route;
    for (std::optional<Place> at = firstStart(std::nullopt); at && route.size() < wanted;) {
      route.push_back(*at);
      used[index(*at)] = true;
      auto onward = next.find(*at);
      at = onward != next.end() ? std::optional(onward->second) : firstStart(at->stage);
      if (at && used[index(*at)])
        break;
    }
    if (route.size() == wanted)
      return route;
    if (sound)
      faults.push_back(
          {fmt::format("activations lead through {} of {} chunks; messages must join all chunks, but where "
                       "chunks that follow each other lie on one stage",
                       route.size(), wanted),
           {}});
    return std::nullopt;
  }

private:
  using Links = std::map<Place, Place, decltype(&less)>;
  size_t index(Place place) const { return size_t(place.stage) * tables.chunks + place.chunk; }

  void link(Links &links, Place from, Place to, const char *verb) {
    auto [it, isNew] = links.try_emplace(from, to);
    if (isNew || it->second == to)
      return;
    sound = false;
    faults.push_back({fmt::format("the activation of stage {} chunk {} {} stage {} chunk {} and to stage {} chunk {}",
                                  from.stage, from.chunk, verb, it->second.stage, it->second.chunk, to.stage, to.chunk),
                      {}});
  }

  /// The first unused chunk that no message leads to, of one stage or of any.
  std::optional<Place> firstStart(std::optional<uint32_t> stage) const {
    for (uint32_t s = stage.value_or(0); s < (stage ? *stage + 1 : tables.stages.size()); ++s)
      for (uint32_t c = 0; c < tables.chunks; ++c)
        if (Place place{s, uint16_t(c)}; !used[index(place)] && !previous.contains(place))
          return place;
    return std::nullopt;
  }

  const Tables &tables;
  Faults &faults;
  Links next{&less}, previous{&less};
  std::vector<bool> used = std::vector<bool>(tables.stages.size() * tables.chunks);
  bool sound = true;
};

/// Why orders cannot be assembled: edges whose messages are wanted in another order than they are made in. Every rank
/// does its bodies and messages one after the other here, and sends wait for nobody.
Faults edgesInDisorder(const Actions &actions) {
  const Problem &problem = actions.problem;
  std::vector<std::string> lines(problem.stages);
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> virtualStageOf;
  for (uint32_t k = 0; k < problem.virtualStages(); ++k)
    virtualStageOf[{problem.place(k).stage, problem.place(k).chunk}] = k;
  for (uint32_t s = 0; s < problem.stages; ++s)
    for (const Step &step : actions.orders[s]) {
      uint32_t k = virtualStageOf[{s, step.chunk}];
      bool forward = step.kind == BodyKind::Forward;
      auto message = [&](const char *word, bool next) {
        if (next ? k + 1 < problem.virtualStages() && problem.place(k + 1).stage != s
                 : k && problem.place(k - 1).stage != s)
          lines[s] += fmt::format("{}{}{} ", k, word, step.microbatch);
      };
      if (step.kind != BodyKind::WeightGrad)
        message(forward ? "RECV_F" : "RECV_B", !forward);
      lines[s] += fmt::format("{}{}{} ", k,
                              forward                           ? "F"
                              : step.kind == BodyKind::Backward ? "B"
                                                                : "W",
                              step.microbatch);
      if (step.kind != BodyKind::WeightGrad)
        message(forward ? "SEND_F" : "SEND_B", forward);
    }
  Faults ignored;
  std::optional<Actions> piece = parseActions(fmt::format("{}", fmt::join(lines, "\n")), ignored);
  if (!piece || !piece->piece)
    return {};
  RowGraph graph(*piece->piece);
  Semantics unbounded{1u << 30};
  Execution execution = execute(graph, piece->problem, unbounded);
  Faults faults;
  checkEdges(graph, execution, faults);
  return faults;
}

std::optional<UserSchedule> fromActions(Actions actions, Faults &faults) {
  if (actions.piece)
    return UserSchedule{actions.problem, std::move(*actions.piece)};
  // A line says in which order a rank works, not how many messages it can take ahead: one more where it would wait in
  // a circle without.
  std::optional<UserSchedule> first;
  for (uint32_t ahead : {0, 1}) {
    Faults found;
    actions.problem.receiveAhead = ahead;
    std::optional<Tables> tables = assemble(actions.problem, actions.orders, found);
    if (!tables) {
      Faults edges = edgesInDisorder(actions);
      found.insert(found.end(), edges.begin(), edges.end());
      faults.insert(faults.end(), found.begin(), found.end());
      return std::nullopt;
    }
    UserSchedule schedule{actions.problem, std::move(*tables)};
    RowGraph graph(schedule.tables);
    bool runs = execute(graph, schedule.problem, {}).finished();
    if (runs || first)
      return runs ? std::move(schedule) : std::move(first);
    first = std::move(schedule);
  }
  return first;
}

/// Faults that orders have before they can be assembled: bodies that are missing, doubled, or before what they follow.
bool checkOrders(const Actions &actions, Faults &faults) {
  size_t before = faults.size();
  const Problem &problem = actions.problem;
  auto say = [&](uint32_t stage, const char *verb, BodyKind kind, uint32_t i, uint32_t c, const std::string &rest) {
    if (faults.size() < before + maxFaults)
      faults.push_back({fmt::format("stage {} {} {} of microbatch {}{}{}", stage, verb, name(kind), i,
                                    problem.chunks > 1 ? fmt::format(" (chunk {})", c) : "", rest),
                        {}});
  };
  for (uint32_t s = 0; s < problem.stages; ++s) {
    std::map<std::tuple<BodyKind, uint32_t, uint32_t>, size_t> places; // kind, chunk, microbatch
    for (size_t i = 0; i < actions.orders[s].size(); ++i) {
      const Step &step = actions.orders[s][i];
      if (!places.try_emplace({step.kind, step.chunk, step.microbatch}, i).second)
        say(s, "runs", step.kind, step.microbatch, step.chunk, " for the second time");
    }
    for (uint32_t c = 0; c < problem.chunks; ++c)
      for (uint32_t i = 0; i < problem.microbatches; ++i) {
        std::optional<std::pair<BodyKind, size_t>> source;
        for (BodyKind kind : {BodyKind::Forward, BodyKind::Backward, BodyKind::WeightGrad}) {
          if (kind == BodyKind::WeightGrad && !problem.splitWeightGrad)
            continue;
          auto place = places.find({kind, c, i});
          if (place == places.end())
            say(s, "never runs", kind, i, c, "");
          else if (source && source->second > place->second)
            say(s, "runs", kind, i, c, fmt::format(" before its {}", name(source->first)));
          if (place != places.end())
            source = {kind, place->second};
        }
      }
  }
  return faults.size() == before;
}

} // namespace

std::optional<Problem> problemOf(const Tables &tables, Faults &faults) {
  Problem problem;
  problem.stages = uint32_t(tables.stages.size());
  problem.chunks = tables.chunks;
  problem.microbatches = tables.microbatches;
  problem.begin = problem.update = false;
  bool trains = false;
  for (const Table &table : tables.stages)
    for (const Row &row : table.rows) {
      if (row.kind != RowKind::Body)
        continue;
      BodyKind kind = bodyKind(row);
      problem.begin |= kind == BodyKind::Begin;
      problem.update |= kind == BodyKind::Update;
      problem.splitWeightGrad |= kind == BodyKind::WeightGrad;
      problem.evaluate |= kind == BodyKind::Evaluate;
      trains |= kind == BodyKind::Forward || kind == BodyKind::Backward;
    }
  if (problem.evaluate && trains) {
    faults.push_back({"evaluate stands beside forward or backward; a table is for training or for evaluation", {}});
    return std::nullopt;
  }
  problem.evaluateUpdate = problem.update;
  problem.update |= problem.begin && !problem.evaluate; // a training step that begins also ends
  std::optional<std::vector<Place>> route = Route(tables, faults).find();
  if (!route)
    return std::nullopt;
  problem.placement = std::move(*route);
  return check(problem, faults) ? std::optional(problem) : std::nullopt;
}

/// Whether the first word begins with a stage's number or opens a group.
static bool beginsWithAction(std::string_view rest) {
  for (size_t at = 0; (at = rest.find_first_not_of(" \t\r\n,")) != std::string_view::npos;) {
    rest.remove_prefix(at);
    if (!rest.starts_with("//") && !rest.starts_with("#"))
      break;
    rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
  }
  return !rest.empty() && (std::isdigit(static_cast<unsigned char>(rest[0])) || rest[0] == '(');
}

/// Messages quote what they find; a program or a picture would write to the terminal through them.
static bool isText(std::string_view text, Faults &faults) {
  auto bad = std::find_if(text.begin(), text.end(), [](unsigned char c) {
    return (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
  });
  if (bad != text.end())
    faults.push_back({fmt::format("line {}: byte {:#04x} is no text; a schedule is a table or actions as text",
                                  1 + std::count(text.begin(), bad, '\n'), static_cast<unsigned char>(*bad)),
                      {}});
  return bad == text.end();
}

/// Says at the first fault from `begin` on how stages are numbered.
static void sayNumbering(const std::string &numbering, size_t begin, Faults &faults) {
  if (!numbering.empty() && begin < faults.size())
    faults[begin].notes.push_back(numbering);
}

/// Of text that is actions.
static std::optional<UserSchedule> readActions(std::string_view text, bool wholeStep, Faults &faults) {
  std::optional<Actions> actions = parseActions(text, faults);
  if (!actions)
    return std::nullopt;
  size_t before = faults.size();
  std::string numbering = actions->numbering;
  std::optional<UserSchedule> schedule;
  if (actions->piece || checkOrders(*actions, faults)) {
    actions->problem.begin = actions->problem.update = wholeStep;
    schedule = fromActions(std::move(*actions), faults);
  }
  sayNumbering(numbering, before, faults);
  if (schedule)
    schedule->numbering = numbering;
  return schedule;
}

std::optional<UserSchedule> readSchedule(std::string_view text, bool wholeStep, Faults &faults) {
  if (!isText(text, faults))
    return std::nullopt;
  std::optional<UserSchedule> schedule;
  if (beginsWithAction(text)) {
    schedule = readActions(text, wholeStep, faults);
  } else if (std::optional<Tables> tables = parseTables(text, faults); tables && tables->piece) {
    schedule = UserSchedule{Problem(), std::move(*tables)};
  } else if (std::optional<Problem> problem = tables ? problemOf(*tables, faults) : std::nullopt) {
    problem->begin |= wholeStep;
    problem->update |= wholeStep;
    schedule = UserSchedule{std::move(*problem), std::move(*tables)};
  }
  if (!schedule || !wholeStep)
    return schedule;
  if (schedule->tables.piece)
    faults.push_back({"it is a piece of a step; only whole steps can be run", {}});
  else if (schedule->problem.evaluate)
    faults.push_back({"it is an evaluation; a step of training is needed", {}});
  return schedule->tables.piece || schedule->problem.evaluate ? std::nullopt : std::move(schedule);
}

void checkRunnable(const Tables &tables, Faults &faults) {
  size_t before = faults.size();
  if (!tables.communicators.empty())
    faults.push_back({"it names communicators; a program has one for each directed edge", {}});
  for (uint32_t s = 0; s < tables.stages.size(); ++s)
    for (const Row &row : tables.stages[s].rows)
      if ((row.kind == RowKind::Body) != (row.stream == 0) && faults.size() < before + maxFaults)
        faults.push_back(
            {fmt::format("stage {} has the {} on stream {}; bodies stand on the first stream, {}, and "
                         "messages on others",
                         s, describe(tables, row), tables.stages[s].streams[row.stream], tables.stages[s].streams[0]),
             {}});
}

Faults judge(const UserSchedule &schedule, Semantics semantics) {
  Faults faults = schedule.tables.piece ? judgeMessages(schedule.tables, semantics)
                                        : judge(schedule.problem, schedule.tables, semantics);
  sayNumbering(schedule.numbering, 0, faults);
  return faults;
}

} // namespace hocket::schedule
