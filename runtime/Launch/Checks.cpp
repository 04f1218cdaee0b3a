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

Status allOf(std::vector<Status> findings) {
  std::optional<Error> all;
  for (Status &found : findings)
    if (!found && !all)
      all = std::move(found.error());
    else if (!found)
      all->message += "\nerror: " + found.error().message;
  return all ? Status(std::move(*all)) : Status();
}

static Status checkData(const Options &options, const program::Program &program) {
  if (options.data.path.empty())
    return {};
  Result<runtime::BatchReader> data = openData(options, program);
  return data ? data->check() : std::move(data.error());
}

static Status checkHeldOut(const Options &options, const program::Program &program) {
  if (options.evalData.empty())
    return {};
  Result<runtime::HeldOutReader> held = runtime::Evaluation::open(rankOptions(options, program), program);
  return held ? held->check() : std::move(held.error());
}

// Where the program is to run.
static Status checkDevice(const Options &options, const program::Program &program) {
  if (!options.emulate)
    return runtime::checkGpus(program);
  if (runtime::isForGpus(program))
    return {};
  return Error{ErrorKind::Invalid,
               fmt::format("--emulate runs programs made with --target=cuda; '{}' is for target {}", options.executable,
                           program.target()->string_view()),
               {}};
}

static Status makeDumpFolder(const Options &options) {
  std::error_code error;
  if (!options.dump.empty())
    std::filesystem::create_directories(options.dump, error);
  if (!error)
    return {};
  return Error{ErrorKind::Invalid, fmt::format("cannot make folder '{}': {}", options.dump, error.message()), {}};
}

Status checkInput(const Options &options, const program::Program &program) {
  return allOf({checkDevice(options, program), checkData(options, program), checkHeldOut(options, program),
                makeDumpFolder(options), runtime::checkCpu(program)});
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
  const std::pair<const char *, std::string> files[] = {{"OUT", options.executable},
                                                        {"--data", data.data},
                                                        {"the index of --data", data.index},
                                                        {"--eval-data", heldOut.data},
                                                        {"the index of --eval-data", heldOut.index},
                                                        {"--metrics", options.metrics},
                                                        {"--trace", options.trace},
                                                        {"rank 0's file of --log-calls", callsPart(options, 0)}};
  std::vector<Status> faults;
  for (size_t written = 5; written < std::size(files); ++written)
    for (size_t other = 0; other < written; ++other)
      if (clash(files[written].second, files[other].second))
        faults.push_back(Error{ErrorKind::Invalid,
                               fmt::format("{} and {} are the same file '{}'", files[written].first, files[other].first,
                                           files[written].second),
                               {}});
  return allOf(std::move(faults));
}

// What is written must not fall into a checkpoint, nor wait for a reader.
static Status checkPlaces(const Options &options) {
  std::vector<Status> faults;
  auto add = [&](std::string text) { faults.push_back(Error{ErrorKind::Invalid, std::move(text), {}}); };
  for (auto [name, path] : {std::pair("--metrics", &options.metrics), std::pair("--trace", &options.trace),
                            std::pair("--log-calls", &options.calls), std::pair("--dump", &options.dump),
                            std::pair("--save", &options.save)}) {
    std::error_code error;
    if (path->empty())
      continue;
    if (checkpoint::liesInCheckpoint(*path))
      add(fmt::format("{} '{}' lies in a checkpoint, which it would damage", name, *path));
    else if (std::filesystem::is_fifo(*path, error))
      add(fmt::format("{} '{}' is a pipe, expected a file", name, *path));
  }
  return allOf(std::move(faults));
}

static Status checkWritable(const char *what, const std::string &path) {
  if (path.empty() || std::ofstream(path, std::ios::app))
    return {};
  return Error{ErrorKind::Invalid, fmt::format("cannot write {} '{}': {}", what, path, std::strerror(errno)), {}};
}

// Every rank writes a file of its own, beside each other.
static Status checkCalls(const Options &options) {
  std::error_code error;
  if (std::filesystem::is_directory(options.calls, error))
    return Error{ErrorKind::Invalid,
                 fmt::format("--log-calls '{}' is a folder, expected the beginning of file names: rank R writes "
                             "FILE.rankR",
                             options.calls),
                 {}};
  return checkWritable("file of calls", callsPart(options, 0));
}

Status checkOutput(const Options &options) {
  if (Status places = allOf({checkApart(options), checkPlaces(options)}); !places)
    return places;
  return allOf({checkWritable("trace file", options.trace), checkCalls(options)});
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
