// Reads actions line by line, then lays the stages on ranks and turns the lines into orders or, with messages, tables.
#include "passes/Schedule/ActionsText.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace hocket::schedule {
namespace {

enum class Word {
  Forward,
  Backward,
  InputGrad,
  WeightGrad,
  SendForward,
  ReceiveForward,
  SendBackward,
  ReceiveBackward
};
constexpr std::pair<const char *, Word> words[] = {{"F", Word::Forward},          {"B", Word::Backward},
                                                   {"I", Word::InputGrad},        {"W", Word::WeightGrad},
                                                   {"SENDF", Word::SendForward},  {"RECVF", Word::ReceiveForward},
                                                   {"SENDB", Word::SendBackward}, {"RECVB", Word::ReceiveBackward}};

struct Action {
  std::string text;
  uint32_t line = 0, rank = 0, stage = 0, microbatch = 0;
  Word word = Word::Forward;
  uint32_t group = 0; ///< 0: of its own
  bool isMessage() const { return word >= Word::SendForward; }
  bool isSend() const { return word == Word::SendForward || word == Word::SendBackward; }
  bool isForward() const { return word == Word::SendForward || word == Word::ReceiveForward; }
  /// Of a message: the stage at its other end; below zero before the first.
  int64_t otherStage() const {
    return int64_t(stage) + (word == Word::SendForward || word == Word::ReceiveBackward ? 1 : -1);
  }
};

class Reader {
public:
  explicit Reader(Faults &faults) : faults(faults) {}

  std::vector<Action> actions;
  uint32_t ranks = 0;

  void read(std::string_view text) {
    for (uint32_t line = 1; !text.empty(); ++line) {
      size_t end = std::min(text.find('\n'), text.size());
      readLine(line, text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

private:
  void fail(uint32_t line, std::string text) { faults.push_back({fmt::format("line {}: {}", line, text), {}}); }

  void readLine(uint32_t number, std::string_view line) {
    line = line.substr(0, std::min(line.find("//"), line.find('#')));
    constexpr std::string_view blanks = " \t\r";
    if (line.find_first_not_of(blanks) == std::string_view::npos)
      return;
    uint32_t group = 0;
    for (size_t i = 0; i < line.size();) {
      char c = line[i];
      if (blanks.find(c) != std::string_view::npos || c == ',') {
        ++i;
      } else if (c == '(' || c == ')') {
        if ((c == '(') == (group != 0))
          fail(number, c == '(' ? "a group within a group" : "')' closes no group");
        group = c == '(' ? ++groups : 0;
        ++i;
      } else {
        size_t end = std::min(line.find_first_of(" \t\r,()", i), line.size());
        readAction(number, std::string(line.substr(i, end - i)), group);
        i = end;
      }
    }
    if (group)
      fail(number, "a group is not closed");
    ++ranks;
  }

  void readAction(uint32_t line, std::string text, uint32_t group) {
    Action action{text, line, ranks};
    action.group = group;
    const char *begin = text.data(), *end = begin + text.size();
    auto [word, first] = std::from_chars(begin, end, action.stage);
    std::string letters;
    for (; word != end && (std::isalpha(static_cast<unsigned char>(*word)) || *word == '_'); ++word)
      if (*word != '_')
        letters += char(std::toupper(static_cast<unsigned char>(*word)));
    auto [rest, last] = std::from_chars(word, end, action.microbatch);
    auto known = std::find_if(std::begin(words), std::end(words), [&](auto &w) { return letters == w.first; });
    if (first != std::errc() || last != std::errc() || rest != end || known == std::end(words))
      return fail(line,
                  fmt::format("'{}' is no action; an action is STAGE WORD MICROBATCH as in 0F1, with the words F, B, "
                              "I, W, SEND_F, RECV_F, SEND_B, RECV_B",
                              text));
    if (action.stage >= 32768 || action.microbatch >= 1u << 24)
      return fail(line, fmt::format("'{}': stages are 0..32767, microbatches 0..16777215", text));
    action.word = known->second;
    actions.push_back(std::move(action));
  }

  Faults &faults;
  uint32_t groups = 0;
};

/// Which rank holds each stage, as which of its chunks.
class Placement {
public:
  Placement(const std::vector<Action> &actions, uint32_t ranks, Faults &faults) : stagesOf(ranks) {
    std::map<uint32_t, const Action *> first;
    for (const Action &action : actions) {
      auto [it, isNew] = first.try_emplace(action.stage, &action);
      if (!isNew && it->second->rank != action.rank)
        faults.push_back(
            {fmt::format("line {}: '{}' runs stage {} on rank {}, line {} on rank {}; a stage lies on one rank",
                         action.line, action.text, action.stage, action.rank, it->second->line, it->second->rank),
             {}});
    }
    for (auto [stage, action] : first) {
      places[stage] = {action->rank, uint16_t(stagesOf[action->rank].size())};
      stagesOf[action->rank].push_back(stage);
    }
  }

  std::optional<Place> of(int64_t stage) const {
    auto found = places.find(uint32_t(stage));
    return stage < 0 || found == places.end() ? std::nullopt : std::optional(found->second);
  }
  size_t stages() const { return places.size(); }
  uint32_t lastStage() const { return places.rbegin()->first; }
  uint32_t mostChunks() const {
    size_t most = 1;
    for (auto &stages : stagesOf)
      most = std::max(most, stages.size());
    return uint32_t(most);
  }
  std::vector<std::vector<uint32_t>> stagesOf; ///< by rank

private:
  std::map<uint32_t, Place> places;
};

/// "1 to 3, 5, 7 to 9"; of more than eight parts the first, and how many numbers are left: "and 12 more". For numbers
/// that rise.
std::string rangesText(const std::vector<uint32_t> &numbers) {
  std::vector<std::string> parts;
  size_t i = 0;
  while (i < numbers.size() && parts.size() < 8) {
    size_t first = i;
    while (i + 1 < numbers.size() && numbers[i + 1] == numbers[i] + 1)
      ++i;
    parts.push_back(first == i ? fmt::format("{}", numbers[i])
                               : fmt::format("{}{}{}", numbers[first], i == first + 1 ? ", " : " to ", numbers[i]));
    ++i;
  }
  return fmt::format("{}{}", fmt::join(parts, ", "),
                     i < numbers.size() ? fmt::format(" and {} more", numbers.size() - i) : "");
}

/// See Actions::numbering.
std::string numberingText(const Placement &placement) {
  const auto &stagesOf = placement.stagesOf;
  bool same = true;
  std::vector<std::string> parts;
  for (uint32_t rank = 0; rank < stagesOf.size(); ++rank) {
    const std::vector<uint32_t> &stages = stagesOf[rank];
    same &= stages.size() == 1 && stages[0] == rank;
    if (parts.size() < 8 && !stages.empty())
      parts.push_back(fmt::format("stage {} runs {}{} {}", rank, parts.empty() ? "the text's stage" : "its",
                                  parts.empty() && stages.size() > 1 ? "s" : "", rangesText(stages)));
  }
  if (same)
    return "";
  return fmt::format("stages are the ranks here, a line each: {}{}", fmt::join(parts, ", "),
                     stagesOf.size() > parts.size() ? ", …" : "");
}

/// A whole step: bodies in order.
void makeOrders(const std::vector<Action> &actions, const Placement &placement, Actions &result, Faults &faults) {
  Problem &problem = result.problem;
  for (uint32_t rank = 0; rank < problem.stages; ++rank)
    if (placement.stagesOf[rank].size() != problem.chunks)
      faults.push_back(
          {fmt::format("rank {} has {} stages ({}), others have {}; all ranks need as many", rank,
                       placement.stagesOf[rank].size(), rangesText(placement.stagesOf[rank]), problem.chunks),
           {}});
  std::vector<uint32_t> missing;
  for (uint32_t stage = 0; stage <= placement.lastStage(); ++stage) {
    std::optional<Place> place = placement.of(stage);
    if (!place)
      missing.push_back(stage);
    problem.placement.push_back(place.value_or(Place()));
  }
  if (!missing.empty())
    faults.push_back({fmt::format("no rank runs stage{} {}; stages are 0..{}", missing.size() > 1 ? "s" : "",
                                  rangesText(missing), placement.lastStage()),
                      {}});
  for (const Action &action : actions)
    problem.splitWeightGrad |= action.word == Word::InputGrad || action.word == Word::WeightGrad;
  result.orders.resize(problem.stages);
  for (const Action &action : actions) {
    Step step{BodyKind::Forward, placement.of(action.stage)->chunk, action.microbatch};
    if (action.word != Word::Forward)
      step.kind = action.word == Word::WeightGrad ? BodyKind::WeightGrad : BodyKind::Backward;
    result.orders[action.rank].push_back(step);
    if (action.word == Word::Backward && problem.splitWeightGrad)
      result.orders[action.rank].push_back({BodyKind::WeightGrad, step.chunk, step.microbatch});
  }
}

/// A piece of a step: rows as they stand, one after the other but for groups, whose rows have a stream each.
class PieceBuilder {
public:
  PieceBuilder(const Placement &placement, const Problem &problem, Faults &faults)
      : placement(placement), problem(problem), faults(faults) {
    tables.piece = true;
    tables.chunks = problem.chunks;
    tables.microbatches = problem.microbatches;
    tables.stages.resize(problem.stages);
    for (Table &table : tables.stages)
      table = {{"compute"}, problem.chunks * problem.microbatches, {}};
    done.resize(problem.stages);
    before.resize(problem.stages);
    group.resize(problem.stages, {0, 0});
  }

  void add(const Action &action) {
    Place here = *placement.of(action.stage);
    auto &[openGroup, members] = group[action.rank];
    if (!action.group || action.group != openGroup) {
      before[action.rank] = done[action.rank];
      members = 0;
    }
    openGroup = action.group;
    uint32_t stream = action.group ? ++members : 0;
    Table &table = tables.stages[action.rank];
    if (stream == maxStreams)
      faults.push_back({fmt::format("line {}: a group of more than {} actions", action.line, maxStreams - 1), {}});
    if (stream >= maxStreams)
      return;
    if (stream == table.streams.size())
      table.streams.push_back(fmt::format("group_{}", stream));
    Row row{RowKind::Body, uint8_t(stream), 0, action.microbatch,
            here.chunk * problem.microbatches + action.microbatch};
    if (action.isMessage() ? !addMessage(action, here, row) : !addBody(action, here, row))
      return;
    row.wait = before[action.rank];
    row.wait[stream] = 0;
    ++done[action.rank][stream];
    table.rows.push_back(row);
  }

  Tables tables;

private:
  bool addBody(const Action &action, Place here, Row &row) {
    BodyKind kind = action.word == Word::Forward      ? BodyKind::Forward
                    : action.word == Word::WeightGrad ? BodyKind::WeightGrad
                                                      : BodyKind::Backward;
    row.index = bodyIndex(kind, here.chunk);
    return true;
  }

  bool addMessage(const Action &action, Place here, Row &row) {
    std::optional<Place> other = placement.of(action.otherStage());
    if (!other || other->stage == here.stage) {
      faults.push_back({fmt::format("line {}: '{}' {} stage {}, which is {}", action.line, action.text,
                                    action.isSend() ? "goes to" : "comes from", action.otherStage(),
                                    other ? "on the same rank" : "on no rank"),
                        {}});
      return false;
    }
    Place from = action.isSend() ? here : *other, to = action.isSend() ? *other : here;
    Message message{action.isForward() ? Values::Activation : Values::Gradient, from.stage, to.stage, from.chunk,
                    to.chunk};
    auto known = std::find(tables.messages.begin(), tables.messages.end(), message);
    row.kind = action.isSend() ? RowKind::Send : RowKind::Receive;
    row.index = uint16_t(known - tables.messages.begin());
    if (known == tables.messages.end())
      tables.messages.push_back(message);
    return true;
  }

  using Counts = std::array<uint32_t, maxStreams>;
  const Placement &placement;
  const Problem &problem;
  Faults &faults;
  std::vector<Counts> done, before;                 // by rank: rows of each stream; those that the next row waits for
  std::vector<std::pair<uint32_t, uint32_t>> group; // by rank: the open group, how many actions it has
};

} // namespace

std::optional<Actions> parseActions(std::string_view text, Faults &faults) {
  size_t before = faults.size();
  Reader reader(faults);
  reader.read(text);
  if (reader.actions.empty() && faults.size() == before)
    faults.push_back({"no actions; a line a rank is needed, as in 0F0, 0F1, 0B0, 0B1", {}});
  if (faults.size() != before)
    return std::nullopt;
  Placement placement(reader.actions, reader.ranks, faults);
  if (faults.size() != before)
    return std::nullopt;
  Actions result;
  result.problem.stages = reader.ranks;
  result.problem.chunks = placement.mostChunks();
  result.numbering = numberingText(placement);
  bool messages = false;
  for (const Action &action : reader.actions) {
    result.problem.microbatches = std::max(result.problem.microbatches, action.microbatch + 1);
    messages |= action.isMessage();
  }
  result.problem.begin = result.problem.update = false;
  if (!messages) {
    makeOrders(reader.actions, placement, result, faults);
    (void)(faults.size() == before && check(result.problem, faults));
  } else if (uint64_t(result.problem.chunks) * result.problem.microbatches > maxPairs) {
    faults.push_back({fmt::format("{} stages a rank times {} microbatches; at most {}", result.problem.chunks,
                                  result.problem.microbatches, maxPairs),
                      {}});
  } else {
    PieceBuilder builder(placement, result.problem, faults);
    for (const Action &action : reader.actions)
      builder.add(action);
    result.piece = std::move(builder.tables);
  }
  return faults.size() == before ? std::optional(std::move(result)) : std::nullopt;
}

} // namespace hocket::schedule
