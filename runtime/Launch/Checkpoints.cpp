// See Checkpoints.h.
#include "runtime/Launch/Checkpoints.h"
#include "runtime/Checkpoint/DataIdentity.h"
#include "runtime/Checkpoint/Layout.h"
#include "runtime/Checkpoint/Match.h"
#include "runtime/Data/TokenStream.h"
#include <filesystem>
#include <fmt/format.h>

namespace hocket::run {

using checkpoint::Found;
using checkpoint::Index;
using runtime::Error;
using runtime::ErrorKind;
using runtime::invalid;
using runtime::Result;
using runtime::Status;

static void note(const std::string &text) { fmt::print(stderr, "note: {}\n", text); }

static bool sameFolder(const std::string &a, const std::string &b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

/// A missing or empty folder of --save is where a job begins that is started again by the same line each time.
static bool startsThere(const Options &options) {
  if (options.save.empty() || !sameFolder(options.resume, options.save))
    return false;
  if (!std::filesystem::exists(options.resume))
    return true;
  Result<std::vector<uint64_t>> steps = checkpoint::stepsIn(options.resume);
  return steps && steps->empty();
}

static Status matchData(const Options &options, const Index &from, checkpoint::Match &match) {
  if (options.data.path.empty() || from.data.type.empty())
    return {}; // nothing is trained, or nothing was
  Result<checkpoint::DataIdentity> data =
      checkpoint::identify(runtime::filesOf(options.data).data, runtime::identityOf(options.data));
  if (!data)
    return std::move(data.error());
  if (data->sameContent(from.data))
    return {};
  std::string difference = fmt::format(
      "data file '{}' ({} bytes of {}, fingerprint {:016x}) is not the one that training read, '{}' ({} bytes "
      "of {}, fingerprint {:016x})",
      data->path, data->bytes, data->type, data->fingerprint, from.data.path, from.data.bytes, from.data.type,
      from.data.fingerprint);
  if (options.newData)
    match.notes.push_back(fmt::format("{}: goes on at sample {} of the new one's order", difference, from.samples));
  else
    match.faults.push_back(difference + "; --new-data allows it");
  return {};
}

/// Whether the run can go on from a checkpoint.
static Status fits(const Options &options, const program::Program &program, const Found &found) {
  Index layout = checkpoint::layoutOf(program);
  checkpoint::Match match = checkpoint::matchTensors(layout.tensors, found.index);
  checkpoint::matchRun(layout, found.index, match);
  if (options.seed && *options.seed != found.index.seed)
    match.faults.push_back(fmt::format("--seed {} is not the checkpoint's seed {}", *options.seed, found.index.seed));
  bool evaluationOnly = options.steps == 0 && !options.evalData.empty();
  if (options.steps < found.index.step && !evaluationOnly)
    match.faults.push_back(
        fmt::format("--steps {} comes before the checkpoint's step {}", options.steps, found.index.step));
  for (uint64_t step : options.dumpSteps)
    if (step < found.index.step)
      match.faults.push_back(
          fmt::format("--dump-steps {} comes before the checkpoint's step {}", step, found.index.step));
  if (Status identified = matchData(options, found.index, match); !identified)
    return identified;
  for (const std::string &text : match.notes)
    note(text);
  if (match.faults.empty())
    return {};
  constexpr size_t most = 64;
  size_t count = match.faults.size();
  if (count > most) {
    match.faults.resize(most);
    match.faults.push_back(fmt::format("… and {} more", count - most));
  }
  return invalid(fmt::format("the run cannot go on from '{}':\n  {}", found.folder, fmt::join(match.faults, "\n  ")));
}

Result<std::vector<std::string>> chooseResume(const Options &options, const program::Program &program) {
  std::vector<std::string> whole;
  if (options.resume.empty())
    return whole;
  if (startsThere(options)) {
    note(fmt::format("'{}' holds no checkpoint: the run starts from the beginning", options.resume));
    return whole;
  }
  Result<std::vector<Found>> found = checkpoint::candidates(options.resume);
  if (!found)
    return std::move(found.error());
  if (found->empty())
    return invalid(fmt::format("'{}' holds no checkpoint to go on from", options.resume));
  const Found *newest = nullptr;
  for (const Found &candidate : *found) {
    for (const std::string &fault : candidate.faults)
      note(fmt::format("checkpoint {}", fault));
    if (!candidate.faults.empty())
      continue;
    newest = newest ? newest : &candidate;
    whole.push_back(candidate.folder);
  }
  if (!newest)
    return invalid(fmt::format("'{}' holds no whole checkpoint to go on from", options.resume));
  if (Status fit = fits(options, program, *newest); !fit)
    return std::move(fit.error());
  return whole;
}

/// Checkpoints in the folder of --save that the run neither goes on from nor comes after.
static Status checkOthers(const Options &options, const std::vector<std::string> &resume) {
  if (!std::filesystem::exists(options.save))
    return {};
  Result<std::vector<uint64_t>> steps = checkpoint::stepsIn(options.save);
  if (!steps)
    return std::move(steps.error());
  for (uint64_t step : *steps) {
    std::string folder = checkpoint::stepFolder(options.save, step);
    if (!resume.empty() && sameFolder(resume.front(), folder))
      return {};
    bool damaged = !resume.empty() && !checkpoint::openCheckpoint(folder).faults.empty();
    if (!damaged)
      return invalid(fmt::format("'{}' already holds the checkpoint of step {}, from which the run does not go on; "
                                 "--resume '{}' does, or save into another folder",
                                 options.save, step, options.save));
  }
  return {};
}

Result<std::optional<checkpoint::FolderLock>> prepareSaving(const Options &options, const program::Program &program,
                                                            const std::vector<std::string> &resume) {
  std::optional<checkpoint::FolderLock> none;
  if (options.save.empty())
    return none;
  if (Status apart = checkOthers(options, resume); !apart)
    return std::move(apart.error());
  constexpr uint64_t perPiece = 256; // bytes of header and index, about
  Index layout = checkpoint::layoutOf(program);
  uint64_t bytes = dataBytes(layout);
  for (const checkpoint::Tensor &tensor : layout.tensors)
    bytes += perPiece * tensor.pieces.size();
  if (Status made = checkpoint::makeFolders(options.save); !made)
    return std::move(made.error());
  Result<checkpoint::FolderLock> lock = checkpoint::FolderLock::take(options.save);
  if (!lock)
    return std::move(lock.error());
  if (Status ready = checkpoint::prepareFolder(options.save, bytes); !ready)
    return std::move(ready.error());
  return std::optional(std::move(*lock));
}

} // namespace hocket::run
