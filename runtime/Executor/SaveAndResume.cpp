// Saving and resuming on a rank; contracts in SaveAndResume.h.
#include "runtime/Executor/SaveAndResume.h"
#include "runtime/Checkpoint/DataIdentity.h"
#include "runtime/Checkpoint/Match.h"
#include "runtime/Checkpoint/Shard.h"
#include "runtime/Data/TokenStream.h"
#include <cstring>
#include <fmt/format.h>

namespace hocket::runtime {

using checkpoint::Box;
using checkpoint::Index;
using checkpoint::View;

static checkpoint::Progress heartbeatOf(const RankContext &context) {
  return [&context] { context.status.heartbeat.fetch_add(1, std::memory_order_relaxed); };
}

/// How this rank's buffer holds its part of a state tensor.
static View viewOf(const RankContext &context, const program::State &state) {
  return {program::box(context.mesh, context.rank, state), program::paddedShape(state), state.type()};
}

static const program::State *stateOf(const RankContext &context, const checkpoint::Tensor &tensor) {
  for (uint32_t i = 0; context.own.state() && i < context.own.state()->size(); ++i) {
    const program::State *state = context.own.state()->Get(i);
    if (state->kind() == tensor.kind && state->name()->string_view() == tensor.name)
      return state;
  }
  return nullptr;
}

// ---- saving ---------------------------------------------------------------------------------------------------------
Saver::Saver(const RankContext &context, const RunOptions &options, uint64_t seed, std::optional<uint64_t> saved)
    : context(context), options(options), seed(seed), saved(saved) {}

Result<bool> Saver::afterStep(uint64_t step, uint64_t samples) {
  if (options.save.empty() || options.saveEvery == 0 || step % options.saveEvery)
    return false;
  if (Status done = save(step, samples); !done)
    return std::move(done.error());
  return true;
}

Result<bool> Saver::atEnd(uint64_t last, uint64_t samples) {
  if (options.save.empty() || saved == last)
    return false;
  if (Status done = save(last, samples); !done)
    return std::move(done.error());
  return true;
}

Status Saver::save(uint64_t step, uint64_t samples) {
  context.status.state.store(RankState::Computing);
  Index index = checkpoint::layoutOf(context.program);
  index.step = step;
  index.samples = samples;
  index.seed = seed;
  if (context.rank == 0)
    if (Status begun = checkpoint::beginPartial(options.save, step); !begun)
      return begun;
  if (Status together = context.everyone->barrier(deadlineIn(context.waitSeconds)); !together)
    return together;
  if (Status wrote = writeOwn(index); !wrote)
    return std::move(wrote.error()).in(fmt::format("step {} is not saved", step));
  if (context.rank == 0 && !options.data.path.empty()) {
    Result<checkpoint::DataIdentity> data = checkpoint::identify(filesOf(options.data).data, identityOf(options.data));
    if (!data)
      return std::move(data.error());
    index.data = std::move(*data);
  }
  if (context.rank == 0)
    if (Status committed = checkpoint::commit(options.save, index, options.keep); !committed)
      return std::move(committed.error()).in(fmt::format("step {} is not saved", step));
  saved = step;
  return {};
}

Status Saver::writeOwn(Index &index) {
  checkpoint::File own;
  if (std::optional<uint32_t> file = checkpoint::fileOf(index, context.rank)) {
    auto fill = [&](const checkpoint::Tensor &tensor, const Box &box, std::span<std::byte> to) -> Status {
      const program::State *state = stateOf(context, tensor);
      Result<DeviceMemory::Reading> read =
          context.memory->read(context.address(*state->buffer(), 0, 0), state->buffer()->bytes());
      if (!read)
        return std::move(read.error());
      checkpoint::copyBox(box, viewOf(context, *state), read->data(), checkpoint::denseView(box, tensor.type),
                          to.data());
      return {};
    };
    Result<checkpoint::File> written = checkpoint::writeShard(checkpoint::partialFolder(options.save, index.step),
                                                              index, *file, fill, heartbeatOf(context));
    if (!written)
      return std::move(written.error());
    own = std::move(*written);
  }
  return exchange(index, own);
}

/// Every rank learns the size and checksum of every file; so all know that all are written.
Status Saver::exchange(Index &index, const checkpoint::File &own) {
  int64_t mine[2] = {static_cast<int64_t>(own.bytes), static_cast<int64_t>(own.checksum)};
  std::vector<int64_t> all(2 * static_cast<size_t>(context.everyone->size()));
  if (Status gathered =
          context.everyone->allGather(mine, all.data(), 2, ElementType::I64, deadlineIn(context.waitSeconds));
      !gathered)
    return gathered;
  for (checkpoint::File &file : index.files) {
    file.bytes = static_cast<uint64_t>(all[2 * file.rank]);
    file.checksum = static_cast<uint64_t>(all[2 * file.rank + 1]);
  }
  return {};
}

// ---- resuming -------------------------------------------------------------------------------------------------------
/// Faults in this rank's share of the files, contents included.
static std::vector<std::string> faultsInShare(const RankContext &context, const std::string &folder,
                                              const Index &index) {
  std::vector<std::string> faults;
  auto ranks = static_cast<uint32_t>(context.world.size());
  for (uint32_t file = context.rank; file < index.files.size(); file += ranks)
    for (std::string &fault : checkpoint::shardFaults(folder, index, file, /*content=*/true, heartbeatOf(context)))
      faults.push_back(std::move(fault));
  return faults;
}

/// A scalar that the checkpoint does not have: its initial value is there, but updates are those of all steps until
/// now.
static Status startScalar(const RankContext &context, const program::State &state, uint64_t step) {
  if (state.name()->string_view() != checkpoint::updatesName || state.type() != program::DType::I64)
    return {};
  return context.memory->write(context.address(*state.buffer(), 0, 0), sizeof(int64_t), [step](std::byte *to) {
    auto updates = static_cast<int64_t>(step);
    std::memcpy(to, &updates, sizeof updates);
    return Status();
  });
}

static Status load(const RankContext &context, const std::string &folder, const Index &index) {
  checkpoint::Match match = checkpoint::matchTensors(checkpoint::layoutOf(context.program).tensors, index);
  if (!match.faults.empty())
    return Error{ErrorKind::Invalid, fmt::format("'{}': {}", folder, fmt::join(match.faults, "; ")), {}};
  checkpoint::ShardReader reader(folder, index);
  for (uint32_t i = 0; context.own.state() && i < context.own.state()->size(); ++i) {
    const program::State &state = *context.own.state()->Get(i);
    auto source = match.sources.find({state.kind(), state.name()->str()});
    if (source == match.sources.end())
      continue;
    if (!source->second) {
      if (Status started = startScalar(context, state, index.step); !started)
        return started;
      continue;
    }
    auto fill = [&](std::byte *to) {
      return reader.read(*source->second, viewOf(context, state), to, heartbeatOf(context));
    };
    if (Status loaded = context.memory->write(context.address(*state.buffer(), 0, 0), state.buffer()->bytes(), fill);
        !loaded)
      return loaded;
  }
  return {};
}

Result<Resumed> resume(const RankContext &context, const RunOptions &options) {
  std::string last;
  for (const std::string &folder : options.resume) {
    checkpoint::Found found = checkpoint::openCheckpoint(folder);
    std::vector<std::string> faults = std::move(found.faults);
    if (faults.empty())
      faults = faultsInShare(context, folder, found.index);
    for (const std::string &fault : faults)
      fmt::print(stderr, "note: {}\n", fault);
    int64_t broken = !faults.empty(), anyBroken = 0;
    if (Status agreed = context.everyone->allReduce(&broken, &anyBroken, 1, ElementType::I64, Reduction::Max,
                                                    deadlineIn(context.waitSeconds));
        !agreed)
      return std::move(agreed.error());
    if (!anyBroken) {
      if (Status loaded = load(context, folder, found.index); !loaded)
        return std::move(loaded.error());
      return Resumed{folder, found.index.step, found.index.samples, found.index.seed};
    }
    last = folder;
  }
  return Error{ErrorKind::Invalid,
               fmt::format("no whole checkpoint is left to go on from; the last one tried was '{}'", last),
               {}};
}

} // namespace hocket::runtime
