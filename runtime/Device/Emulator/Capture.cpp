// Graphs on the emulated device: the pieces of a capture with what they wait for, replayed in any order that this
// allows. As on CUDA a graph knows nothing of the streams it was captured on but the order that they and their events
// made, and what would be an error there is one here: work that does not join again, waits for what was queued before.
#include "runtime/Device/Emulator/EmulatorStreams.h"
#include <algorithm>

namespace hocket::runtime::emulator {

struct EmulatorDevice::CapturedGraph : Graph {
  std::vector<std::vector<Capture::Piece>> streams;
  std::vector<uint32_t> lanes; // by stream
};

struct EmulatorDevice::Replay {
  std::vector<std::shared_ptr<Queue>> queues; // by stream
};

Status EmulatorDevice::beginCapture(Stream &stream) {
  if (failed)
    return *failed;
  QueuedStream &origin = QueuedStream::of(stream);
  if (origin.capture)
    return invalid("a stream that is captured is to be captured again");
  origin.capture = std::make_shared<Capture>();
  origin.capture->number = ++captures;
  origin.captured = 0;
  origin.capture->streams.emplace_back();
  origin.capture->queues.push_back(&origin);
  return {};
}

uint64_t EmulatorDevice::capturing(Stream &stream) const {
  const std::shared_ptr<Capture> &capture = QueuedStream::of(stream).capture;
  return capture ? capture->number : 0;
}

// A stream that waits for a captured event is captured from then on.
Status EmulatorDevice::waitInCapture(QueuedStream &stream, const std::shared_ptr<EventState> &state) {
  if (!state->capture)
    return invalid("captured work waits for an event that was recorded before the capture");
  if (state->capture->ended)
    return invalid("a stream waits for an event of a capture that has ended");
  if (stream.capture && stream.capture != state->capture)
    return invalid("a stream of one capture waits for an event of another");
  if (!stream.capture) {
    stream.capture = state->capture;
    stream.captured = stream.capture->streams.size();
    stream.capture->streams.emplace_back();
    stream.capture->queues.push_back(&stream);
  }
  stream.capture->streams[stream.captured].push_back({nullptr, state->stream, state->pieces});
  return {};
}

// How many pieces of each stream the first one waits for at its end, directly or over others.
static std::vector<size_t> joined(const auto &streams) {
  std::vector<size_t> known(streams.size());
  known[0] = streams[0].size();
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t s = 0; s < streams.size(); ++s)
      for (size_t i = 0; i < known[s]; ++i)
        if (const auto &piece = streams[s][i]; piece.pieces > known[piece.stream]) {
          known[piece.stream] = piece.pieces;
          moved = true;
        }
  }
  return known;
}

Result<std::unique_ptr<Graph>> EmulatorDevice::endCapture(Stream &stream) {
  std::shared_ptr<Capture> capture = QueuedStream::of(stream).capture;
  if (!capture || capture->queues[0] != &QueuedStream::of(stream))
    return invalid("the end of a capture on a stream that did not begin it");
  capture->ended = true;
  for (QueuedStream *queue : capture->queues)
    if (queue)
      queue->capture = nullptr;
  std::vector<size_t> known = joined(capture->streams);
  for (size_t s = 0; s < known.size(); ++s)
    if (known[s] < capture->streams[s].size())
      return invalid("captured work on a stream does not join the stream that began the capture");
  auto graph = std::make_unique<CapturedGraph>();
  graph->streams = std::move(capture->streams);
  for (size_t s = 0; s < graph->streams.size(); ++s)
    graph->lanes.push_back(order.addLane());
  return std::unique_ptr<Graph>(std::move(graph));
}

// One piece of the launching stream, which is not done before all of the graph is. Each stream of the graph becomes a
// queue, with a record after each of its pieces that somebody waits for.
Status EmulatorDevice::launch(Stream &stream, Graph &graph) {
  if (QueuedStream::of(stream).capture)
    return invalid("a graph is launched on a stream that is captured");
  auto replay = std::make_shared<Replay>();
  return enqueue(stream, [this, replay, captured = static_cast<CapturedGraph &>(graph)]() -> Result<bool> {
    if (replay->queues.empty())
      start(*replay, captured);
    if (!std::all_of(replay->queues.begin(), replay->queues.end(), [](const auto &queue) { return queue->empty(); }))
      return false;
    for (uint32_t each : captured.lanes)
      order.after(lane, order.known(each));
    return true;
  });
}

void EmulatorDevice::start(Replay &replay, const CapturedGraph &graph) {
  std::map<std::pair<size_t, size_t>, std::shared_ptr<Record>> records; // after so many pieces of a stream
  for (const auto &pieces : graph.streams)
    for (const Capture::Piece &piece : pieces)
      if (piece.pieces)
        records.try_emplace({piece.stream, piece.pieces}, std::make_shared<Record>());
  auto recordAfter = [&](size_t stream, size_t pieces) {
    auto found = records.find({stream, pieces});
    return found == records.end() ? nullptr : found->second;
  };
  for (size_t s = 0; s < graph.streams.size(); ++s) {
    auto queue = std::make_shared<Queue>();
    queue->lane = graph.lanes[s];
    order.after(queue->lane, order.known(lane));
    for (const Capture::Piece &piece : graph.streams[s]) {
      std::shared_ptr<Record> record = recordAfter(s, queue->size() + 1);
      auto run = [this, run = piece.run, record]() mutable -> Result<bool> {
        Result<bool> over = run ? run() : Result<bool>(true);
        if (over && *over && record)
          (void)reach(*record);
        return over;
      };
      queue->push_back({std::move(run), recordAfter(piece.stream, piece.pieces), nullptr});
    }
    replay.queues.push_back(queue);
    queues.push_back(queue);
  }
}

} // namespace hocket::runtime::emulator
