// See TcpCommunicator.h. An Ask is a Call and the input; an Answer is a Verdict, then the output or, where the members
// disagree, the ranks and the message.
#include "runtime/Comm/Tcp/TcpCommunicator.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace hocket::runtime::tcp {

namespace {
struct Verdict {
  uint32_t agreed;
  int32_t ranks[2]; // that do not
};

const std::byte *bytes(const std::string &text, size_t from) {
  return reinterpret_cast<const std::byte *>(text.data()) + from;
}

class TcpRequest : public Request {
public:
  TcpRequest(Mail &mail, std::shared_ptr<Posted> message, std::string name, int peer)
      : mail(mail), message(std::move(message)), name(std::move(name)), peer(peer) {}

  Result<bool> test() override {
    Result<bool> complete = mail.test(*message);
    return complete && *complete && !message->matches() ? Result<bool>(mismatch()) : complete;
  }
  Status wait(Deadline deadline) override {
    Result<bool> complete = mail.wait(*message, deadline);
    if (!complete)
      return std::move(complete.error());
    if (!*complete)
      return Error{
          ErrorKind::Timeout,
          fmt::format("{}: time is up; rank {} has not {} it", name, peer, message->sends ? "received" : "sent"),
          {peer}};
    return message->matches() ? Status() : mismatch();
  }

private:
  Error mismatch() const {
    auto size = [](size_t count, ElementType type) { return fmt::format("{} {}", count, toString(type)); };
    std::string own = size(message->count, message->type), other = size(message->otherCount, message->otherType);
    return {ErrorKind::Mismatch,
            fmt::format("{}: {} sent, {} received", name, message->sends ? own : other, message->sends ? other : own),
            {peer}};
  }
  Mail &mail;
  std::shared_ptr<Posted> message;
  std::string name;
  int peer;
};
} // namespace

TcpCommunicator::TcpCommunicator(Group group, int self, Mail &mail, const mpi::GatheredStatuses &statuses,
                                 std::atomic<uint32_t> &calls)
    : HostCommunicator(std::move(group), self), mail(mail), statuses(statuses), calls(calls) {}

Status TcpCommunicator::collective(const Call &call, const std::byte *in, std::byte *out, Deadline deadline) {
  calls.fetch_add(1, std::memory_order_release);
  return rank() == 0 ? answer(call, in, out, deadline) : ask(call, in, out, deadline);
}

size_t TcpCommunicator::outputBytes(const Call &call) const {
  bool joins = call.operation == Operation::AllGather || call.operation == Operation::AllToAll;
  return call.blockBytes() * (joins ? static_cast<size_t>(size()) : 1);
}

Status TcpCommunicator::ask(const Call &call, const std::byte *in, std::byte *out, Deadline deadline) {
  std::string letter(reinterpret_cast<const char *>(&call), sizeof call);
  size_t inputBytes = call.inputBlocks(size()) * call.blockBytes();
  if (inputBytes && (call.operation != Operation::Broadcast || call.root == rank()))
    letter.append(reinterpret_cast<const char *>(in), inputBytes);
  mail.send(way(0), Kind::Ask, letter);
  Result<std::optional<std::string>> came = mail.take(way(0), Kind::Answer, deadline);
  if (!came)
    return ended(call, std::move(came.error()), statuses.behind(group()));
  if (!*came)
    return unanswered(call, statuses.behind(group()));
  Verdict verdict;
  std::memcpy(&verdict, (*came)->data(), sizeof verdict);
  if (!verdict.agreed)
    return Error{ErrorKind::Mismatch, (*came)->substr(sizeof verdict), {verdict.ranks[0], verdict.ranks[1]}};
  if (size_t size = outputBytes(call))
    std::memcpy(out, bytes(**came, sizeof verdict), size);
  return {};
}

Status TcpCommunicator::answer(const Call &call, const std::byte *in, std::byte *out, Deadline deadline) {
  std::vector<std::string> letters(static_cast<size_t>(size()));
  std::vector<Call> asked{call};
  std::vector<const std::byte *> inputs{in};
  for (int r = 1; r < size(); ++r) {
    Result<std::optional<std::string>> came = mail.take(way(r), Kind::Ask, deadline);
    if (!came)
      return ended(call, std::move(came.error()), absent(r));
    if (!*came)
      return unanswered(call, absent(r));
    letters[r] = std::move(**came);
    std::memcpy(&asked.emplace_back(), letters[r].data(), sizeof call);
    inputs.push_back(bytes(letters[r], sizeof call));
  }
  if (Status same = agree(*this, asked); !same)
    return refuse(same.error());
  bool alike = call.operation != Operation::ReduceScatter && call.operation != Operation::AllToAll; // for all members
  std::vector<std::byte> output(outputBytes(call));
  for (int r = size() - 1; r >= 0; --r) { // its own last: it may lie in the input
    if (!output.empty() && call.operation == Operation::Broadcast)
      std::memcpy(output.data(), inputs[static_cast<size_t>(call.root)], output.size());
    else if (!output.empty() && (!alike || r == size() - 1))
      combine(call, r, inputs, output.data(), {0, call.count, call.count});
    if (r == 0)
      break;
    Verdict verdict{1, {}};
    std::string letter(reinterpret_cast<const char *>(&verdict), sizeof verdict);
    letter.append(reinterpret_cast<const char *>(output.data()), output.size());
    mail.send(way(r), Kind::Answer, letter);
  }
  if (!output.empty())
    std::memcpy(out, output.data(), output.size());
  return {};
}

// All hear which two disagree.
Status TcpCommunicator::refuse(const Error &error) {
  Verdict verdict{0, {error.ranks[0], error.ranks[1]}};
  std::string letter(reinterpret_cast<const char *>(&verdict), sizeof verdict);
  letter += error.message;
  for (int r = 1; r < size(); ++r)
    mail.send(way(r), Kind::Answer, letter);
  return error;
}

// World ranks of the members, from one on, that have not asked.
std::vector<int> TcpCommunicator::absent(int from) const {
  std::vector<int> result;
  for (int r = from; r < size(); ++r)
    if (!mail.has(way(r), Kind::Ask))
      result.push_back(way(r).peer);
  return result;
}

// Those that are gone, else those that have not come, as far as it is known here.
Error TcpCommunicator::unanswered(const Call &call, std::vector<int> missing) const {
  std::vector<int> lost = mail.lost(group().ranks);
  if (!lost.empty())
    missing = std::move(lost);
  if (missing.empty())
    missing = {group().ranks[0]};
  return timeIsUp(*this, call, std::move(missing));
}

Error TcpCommunicator::ended(const Call &call, Error error, const std::vector<int> &missing) const {
  for (int rank : missing)
    if (std::find(error.ranks.begin(), error.ranks.end(), rank) == error.ranks.end())
      error.ranks.push_back(rank);
  return std::move(error).in(fmt::format("{} on {}", runtime::describe(call), describe()));
}

// ---- messages -------------------------------------------------------------------------------------------------------
Result<std::unique_ptr<Request>> TcpCommunicator::post(std::byte *data, size_t count, ElementType type, int peer,
                                                       bool sends) {
  int own = group().ranks[static_cast<size_t>(rank())], other = way(peer).peer;
  std::shared_ptr<Posted> posted = mail.post(way(peer), {data, count, type, sends});
  std::string name = fmt::format("message {} from rank {} to rank {} on {}", posted->number, sends ? own : other,
                                 sends ? other : own, describe());
  return std::unique_ptr<Request>(std::make_unique<TcpRequest>(mail, std::move(posted), std::move(name), other));
}

} // namespace hocket::runtime::tcp
