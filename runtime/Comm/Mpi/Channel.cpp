// See Channel.h.
#include "runtime/Comm/Mpi/Channel.h"
#include <fmt/format.h>

namespace hocket::runtime::mpi {

// A wait for one message of a channel.
class MpiRequest : public Request {
public:
  MpiRequest(std::shared_ptr<Channel> channel, std::shared_ptr<Message> message)
      : channel(std::move(channel)), message(std::move(message)) {}

  Result<bool> test() override {
    {
      std::lock_guard lock(channel->engine.mutex);
      channel->advance();
      Result<bool> now = done();
      if (!now || *now)
        return now;
    }
    if (channel->engine.aborted())
      return channel->engine.abortError();
    return false;
  }

  Status wait(Deadline deadline) override {
    Result<bool> waited = channel->engine.wait([this] { return done(); }, deadline, false);
    if (!waited)
      return std::move(waited.error());
    if (*waited)
      return {};
    std::lock_guard lock(channel->engine.mutex);
    return channel->timeout(*message);
  }

private:
  // Under the engine's mutex.
  Result<bool> done() const {
    if (message->phase == Message::Failed)
      return *message->error;
    return message->phase == Message::Complete;
  }

  std::shared_ptr<Channel> channel;
  std::shared_ptr<Message> message;
};

Channel::Channel(Engine &engine, bool sends, int peer, uint32_t communicator, std::string where)
    : engine(engine), sends(sends), peer(peer), tagBase(static_cast<int>(communicator) * kinds),
      where(std::move(where)) {}

Result<std::unique_ptr<Request>> Channel::post(void *data, size_t count, ElementType type) {
  auto message = std::make_shared<Message>();
  message->data = static_cast<std::byte *>(data);
  std::lock_guard lock(engine.mutex);
  message->mine = {count, static_cast<uint32_t>(type), posted++};
  Kind mine = sends ? Kind::SenderTicket : Kind::ReceiverTicket;
  Kind theirs = sends ? Kind::ReceiverTicket : Kind::SenderTicket;
  if (Status sent = engine.send(message->tickets, &message->mine, sizeof(Ticket), peer, tag(mine)); !sent)
    return std::move(sent.error()).in(describe(*message));
  if (Status received = engine.receive(message->tickets, &message->theirs, sizeof(Ticket), peer, tag(theirs));
      !received)
    return std::move(received.error()).in(describe(*message));
  open.push_back(message);
  engine.add(shared_from_this());
  return std::unique_ptr<Request>(std::make_unique<MpiRequest>(shared_from_this(), std::move(message)));
}

bool Channel::advance() {
  bool moved = false;
  for (const std::shared_ptr<Message> &message : open) {
    moved |= advance(*message);
    if (message->phase == Message::Meeting)
      break; // those behind it meet later
  }
  while (!open.empty() && open.front()->phase >= Message::Complete)
    open.pop_front();
  return moved;
}

bool Channel::advance(Message &message) {
  Message::Phase before = message.phase;
  auto step = [&](std::vector<MPI_Request> &requests) {
    Result<bool> done = engine.complete(requests);
    if (done)
      return *done;
    message.error = std::move(done.error()).in(describe(message));
    message.phase = Message::Failed;
    return false;
  };
  if (message.phase == Message::Meeting && step(message.tickets))
    if (Status met = meet(message); !met) {
      message.error = std::move(met.error());
      message.phase = Message::Failed;
    }
  if (message.phase == Message::Moving && step(message.moving))
    message.phase = Message::Complete;
  return message.phase != before;
}

// Both tickets are here.
Status Channel::meet(Message &message) {
  const Ticket &sent = sends ? message.mine : message.theirs, &received = sends ? message.theirs : message.mine;
  if (sent.count != received.count || sent.type != received.type)
    return Error{ErrorKind::Mismatch,
                 fmt::format("{}: {} {} sent, {} {} received", describe(message), sent.count,
                             toString(static_cast<ElementType>(sent.type)), received.count,
                             toString(static_cast<ElementType>(received.type))),
                 {peer}};
  message.phase = Message::Moving;
  Status moving = sends ? engine.send(message.moving, message.data, message.bytes(), peer, tag(Kind::Message), true)
                        : engine.receive(message.moving, message.data, message.bytes(), peer, tag(Kind::Message));
  if (!moving)
    return std::move(moving.error()).in(describe(message));
  return {};
}

std::string Channel::describe(const Message &message) const {
  return fmt::format("message {} from rank {} to rank {} on {}", message.mine.number, sends ? engine.rank : peer,
                     sends ? peer : engine.rank, where);
}

Error Channel::timeout(const Message &message) const {
  std::string_view owes = message.phase == Message::Moving ? "has not finished copying"
                          : sends                          ? "has not received it"
                                                           : "has not sent it";
  return {ErrorKind::Timeout, fmt::format("{}: time is up; rank {} {}", describe(message), peer, owes), {peer}};
}

} // namespace hocket::runtime::mpi
