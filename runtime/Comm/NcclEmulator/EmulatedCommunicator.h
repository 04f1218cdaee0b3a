// One rank's end of an emulated communicator, and the kernels that run on it.
#ifndef HOCKET_RUNTIME_COMM_NCCLEMULATOR_EMULATEDCOMMUNICATOR_H
#define HOCKET_RUNTIME_COMM_NCCLEMULATOR_EMULATEDCOMMUNICATOR_H

#include "runtime/Comm/Call.h"
#include "runtime/Comm/NcclEmulator/NcclEmulator.h"
#include <array>

namespace hocket::runtime::nccl {

// One call of a program.
struct Piece {
  enum Kind { Collective, Send, Receive } kind = Collective;
  Call call;    // of a message only type and count
  int peer = 0; // of a message
  const std::byte *in = nullptr;
  std::byte *out = nullptr;
};
std::string describe(const Piece &piece);
// What member `self` of `members` reads and writes for it.
std::vector<Touch> touchedBy(const Piece &piece, int self, int members);

// Elements [begin, begin + count) of a buffer.
struct Part {
  size_t begin, count;
};

// Messages that were posted and are waited for together.
class Posts {
public:
  explicit Posts(Communicator &over) : over(over) {}
  Status send(const void *data, size_t count, ElementType type, int peer);
  Status receive(void *data, size_t count, ElementType type, int peer);
  Result<bool> test(); // whether all are complete
  bool empty() const { return open.empty(); }
  // The peer of the message that was last found to be wrong.
  int wrongPeer() const { return wrong; }

private:
  struct Open {
    std::unique_ptr<Request> request;
    int peer;
  };
  Status add(Result<std::unique_ptr<Request>> request, int peer);
  Communicator &over;
  std::vector<Open> open;
  int wrong = -1;
};

class EmulatedCommunicator {
public:
  // Posts what tells the other members that this one is here.
  EmulatedCommunicator(NcclEmulator &owner, std::shared_ptr<Communicator> over, const UniqueId &id);

  // Takes the calls of a group on one or more streams (their handles), as one kernel. May be put off: "in progress".
  // Nothing orders them, so where one writes what another touches they are refused (invalidUsage).
  int take(std::vector<Piece> pieces, std::vector<void *> streams);
  // Moves on what is in progress; what NCCL would answer.
  int state();
  const std::string &error() const { return text; }
  const Communicator &on() const { return *over; }

  // The first error counts.
  void fail(const Error &error);
  // Kernels end, done or not.
  void end();

private:
  friend class Kernel;
  void meet();
  int launch(std::vector<Piece> pieces, std::vector<void *> streams);

  NcclEmulator &owner;
  std::shared_ptr<Communicator> over;
  int failure = 0; // an ncclResult_t
  std::string text;
  bool ended = false;

  std::vector<UniqueId> ids; // of the members, as they come
  Posts greetings;
  bool met = false;
  std::function<int()> putOff;
  uint64_t putOffFor = 0; // calls of state()

  std::vector<std::shared_ptr<Kernel>> kernels; // queued or captured
  Kernel *running = nullptr;
  uint64_t issued = 0, finished = 0; // kernels that are not captured
};

// The calls of one group on one communicator. It runs again with every launch of a graph that captured it.
class Kernel {
public:
  Kernel(std::shared_ptr<EmulatedCommunicator> on, std::vector<Piece> pieces, std::vector<void *> streams);
  // On every one of its streams; an ncclResult_t.
  static int queue(const std::shared_ptr<Kernel> &kernel);
  bool isRunning() const { return phase == Running; }

private:
  using Header = std::array<int64_t, 5>; // a Call, as members tell it each other

  Touches touches() const;
  bool poll(size_t stream);
  bool mayStart() const;
  bool advance();
  void complete();
  Error described(Error error) const;

  // What its calls are made of.
  Status postMessages();
  void addCollective(const Piece &piece);
  void addAllReduce(const Piece &piece);
  void addReduction(const Piece &piece, std::function<Part(int)> partOf, std::byte *out);
  Status postHeaders(const Call &call);
  Status compareHeaders(const Call &call);
  Status gather(const Piece &piece);
  Status broadcast(const Piece &piece);

  std::shared_ptr<EmulatedCommunicator> on;
  NcclEmulator &owner;
  const int size, self;
  std::vector<Piece> pieces;
  std::vector<void *> streams;
  std::vector<std::function<Status()>> steps; // each begins when all that was posted is complete
  Posts posts;
  const Call *comparing = nullptr; // the collective whose headers are on their way
  std::vector<Header> headers;
  std::vector<std::vector<std::byte>> staging; // both by member

  uint64_t capture;               // which it belongs to; 0: none
  uint64_t ticket = 0;            // its place on the communicator, where it is not captured
  std::shared_ptr<Kernel> before; // the one before it in its capture
  uint64_t runs = 0;              // that are complete
  enum { Waiting, Running, Complete } phase = Waiting;
  std::vector<bool> arrived; // by stream
  size_t arrivals = 0, departures = 0, next = 0;
};

} // namespace hocket::runtime::nccl
#endif
