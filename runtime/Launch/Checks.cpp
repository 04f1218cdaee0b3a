// See Checks.h.
#include "runtime/Launch/Checks.h"
#include "runtime/Checkpoint/Folder.h"
#include "runtime/Executor/CpuFeatures.h"
#include "runtime/Executor/Evaluation.h"
#include "runtime/Executor/Rank.h"
#include "runtime/Executor/RankDevice.h"
#include "runtime/Launch/Counted.h"
#include "runtime/Launch/Machine.h"
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

namespace hocket::run {

using runtime::Error;
using runtime::ErrorKind;
using runtime::Result;
using runtime::Status;

static Result<runtime::BatchReader> openData(const Options &options, const program::Program &program) {
  Result<runtime::TokenStream> stream = runtime::TokenStream::open(options.data);
  if (!stream)
    return std::move(stream.error());
  return runtime::BatchReader::create(std::move(*stream), runtime::batchShapeOf(program), 0);
}

// The files that are trained on and evaluated.
static Status checkData(const Options &options, const program::Program &program) {
  if (!options.data.path.empty()) {
    Result<runtime::BatchReader> data = openData(options, program);
    if (!data)
      return std::move(data.error());
    if (Status sound = data->check(); !sound)
      return sound;
  }
  if (options.evalData.empty())
    return {};
  Result<runtime::HeldOutReader> held = runtime::Evaluation::open(rankOptions(options, program), program);
  return held ? held->check() : std::move(held.error());
}

Status checkInput(const Options &options, const program::Program &program) {
  if (options.emulate && !runtime::isForGpus(program))
    return Error{ErrorKind::Invalid,
                 fmt::format("--emulate runs programs made with --target=cuda; '{}' is for target {}",
                             options.executable, program.target()->string_view()),
                 {}};
  if (Status data = checkData(options, program); !data)
    return data;
  if (!options.dump.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.dump, error);
    if (error)
      return Error{ErrorKind::Invalid, fmt::format("cannot make folder '{}': {}", options.dump, error.message()), {}};
  }
  return runtime::checkCpu(program);
}

std::string dataSummary(const Options &options, const program::Program &program) {
  if (options.data.path.empty())
    return "";
  Result<runtime::BatchReader> data = openData(options, program);
  if (!data)
    return "";
  return fmt::format("data: {}\n{}\n", data->tokens().summary(program.vocabulary()),
                     data->epochs().summary(options.steps, program.globalBatch()));
}

// What is written must not be what is read.
static Status checkApart(const Options &options) {
  auto clash = [](const std::string &a, const std::string &b) {
    std::error_code error;
    return !a.empty() && !b.empty() && (a == b || std::filesystem::equivalent(a, b, error));
  };
  runtime::DataFiles data = runtime::filesOf(options.data);
  runtime::DataFiles heldOut = runtime::filesOf(runtime::Evaluation::sourceOf(options.data, options.evalData));
  const std::pair<const char *, const std::string *> files[] = {{"OUT", &options.executable},
                                                                {"--data", &data.data},
                                                                {"the index of --data", &data.index},
                                                                {"--eval-data", &heldOut.data},
                                                                {"the index of --eval-data", &heldOut.index},
                                                                {"--metrics", &options.metrics},
                                                                {"--trace", &options.trace}};
  for (size_t written = 5; written < 7; ++written)
    for (size_t other = 0; other < written; ++other)
      if (clash(*files[written].second, *files[other].second))
        return Error{ErrorKind::Invalid,
                     fmt::format("{} and {} are the same file '{}'", files[written].first, files[other].first,
                                 *files[written].second),
                     {}};
  return {};
}

// What is written must not fall into a checkpoint, nor wait for a reader.
static Status checkPlaces(const Options &options) {
  std::vector<std::string> faults;
  for (auto [name, path] : {std::pair("--metrics", &options.metrics), std::pair("--trace", &options.trace),
                            std::pair("--dump", &options.dump), std::pair("--save", &options.save)}) {
    std::error_code error;
    if (path->empty())
      continue;
    if (checkpoint::liesInCheckpoint(*path))
      faults.push_back(fmt::format("{} '{}' lies in a checkpoint, which it would damage", name, *path));
    else if (std::filesystem::is_fifo(*path, error))
      faults.push_back(fmt::format("{} '{}' is a pipe, expected a file", name, *path));
  }
  if (faults.empty())
    return {};
  return Error{ErrorKind::Invalid, fmt::format("{}", fmt::join(faults, "; ")), {}};
}

Status checkOutput(const Options &options) {
  if (Status apart = checkApart(options); !apart)
    return apart;
  if (Status places = checkPlaces(options); !places)
    return places;
  if (!options.trace.empty() && !std::ofstream(options.trace, std::ios::app))
    return Error{
        ErrorKind::Invalid, fmt::format("cannot write trace file '{}': {}", options.trace, std::strerror(errno)), {}};
  for (uint64_t step : options.dumpSteps)
    if (step > options.steps)
      return Error{
          ErrorKind::Invalid, fmt::format("--dump-steps {} comes after the last step {}", step, options.steps), {}};
  return {};
}

Status checkMemory(uint64_t ranks, uint64_t needed) {
  uint64_t available = availableBytes();
  if (available && needed > available)
    return Error{ErrorKind::Lacking,
                 fmt::format("{} need{} {} ({} bytes) of memory, this machine has {} ({} bytes) free",
                             counted(ranks, "rank"), ranks == 1 ? "s" : "", bytesText(needed), needed,
                             bytesText(available), available),
                 {}};
  return {};
}

} // namespace hocket::run
