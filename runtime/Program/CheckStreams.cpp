// Streams of bodies: what is started on them, and what is awaited. That nothing touches what is in flight is proved
// when the program is compiled (step-verify-program).
#include "runtime/Program/Check.h"
#include "runtime/Program/OpKinds.h"
#include <map>

namespace hocket::program {
namespace {
class StreamCheck {
public:
  StreamCheck(CheckContext &context, const RankProgram &rank)
      : context(context), rank(rank), count(rank.bodyStreams() ? rank.bodyStreams()->size() : 0) {}

  void run() {
    constexpr uint32_t most = 16;
    if (count > most)
      context.fault("stage {}: {} streams of bodies, expected at most {}", rank.stage(), count, most);
    for (const Body *body : *rank.bodies())
      checkBody(*body, fmt::format("stage {} body '{}'", rank.stage(), body->name()->str()));
  }

private:
  std::string name(uint32_t stream) const { return stream ? rank.bodyStreams()->Get(stream - 1)->str() : "compute"; }

  void checkBody(const Body &body, const std::string &where) {
    std::vector<uint32_t> started(count + 1), awaited(count + 1);
    for (uint32_t i = 0; i < body.instructions()->size(); ++i) {
      const Instruction &instruction = *body.instructions()->Get(i);
      std::string here = fmt::format("{} instruction {}", where, i);
      uint32_t stream = instruction.stream();
      if (!context.indexIn(stream, count + 1, here, "stream"))
        continue;
      if (instruction.op() == Op::Await)
        awaited[stream] = std::max(awaited[stream], checkAwait(instruction, started, here));
      else if (stream)
        ++started[stream];
      if (stream && instruction.op() < Op::AllReduce)
        context.fault("{}: a {} on stream '{}', expected a collective or a transfer", here,
                      EnumNameOp(instruction.op()), name(stream));
      if (isCollective(instruction.op()))
        checkCommunicator(instruction, here);
    }
    for (uint32_t stream = 1; stream <= count; ++stream)
      if (awaited[stream] < started[stream])
        context.fault("{}: {} of the {} instructions on stream '{}' are not awaited, expected all before the body ends",
                      where, started[stream] - awaited[stream], started[stream], name(stream));
  }

  uint32_t checkAwait(const Instruction &await, const std::vector<uint32_t> &started, const std::string &here) {
    uint32_t stream = await.stream(), wanted = await.awaited();
    if (stream == 0) {
      context.fault("{}: awaits the stream that computes, expected another", here);
      return 0;
    }
    if (wanted >= 1 && wanted <= started[stream])
      return wanted;
    context.fault("{}: awaits {} instructions on stream '{}', of which {} have been started, expected 1 to as many",
                  here, wanted, name(stream), started[stream]);
    return 0;
  }

  // A communicator's calls are in one order, and belong to one thread.
  void checkCommunicator(const Instruction &collective, const std::string &here) {
    auto [at, fresh] = streamOf.try_emplace(collective.communicator(), collective.stream());
    if (!fresh && at->second != collective.stream())
      context.fault("{}: uses communicator '{}' on stream '{}', others use it on stream '{}', expected one stream",
                    here, context.program.communicators()->Get(collective.communicator())->name()->str(),
                    name(collective.stream()), name(at->second));
  }

  CheckContext &context;
  const RankProgram &rank;
  uint32_t count;
  std::map<uint32_t, uint32_t> streamOf; // by communicator
};
} // namespace

void checkStreams(CheckContext &context, const RankProgram &rank) { StreamCheck(context, rank).run(); }

} // namespace hocket::program
