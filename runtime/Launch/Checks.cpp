// See Checks.h.
#include "runtime/Launch/Checks.h"
#include "runtime/Executor/CpuFeatures.h"
#include "runtime/Executor/Evaluation.h"
#include "runtime/Executor/Rank.h"
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

// The files that are trained on and evaluated.
static Status checkData(const Options &options, const program::Program &program) {
  if (!options.data.empty()) {
    Result<runtime::TokenFile> file = runtime::TokenFile::open(options.data, options.dataType);
    if (!file)
      return std::move(file.error());
    Result<runtime::BatchReader> data =
        runtime::BatchReader::create(std::move(*file), runtime::batchShapeOf(program), 0);
    if (!data)
      return std::move(data.error());
    if (Status ids = data->checkIds(); !ids)
      return ids;
  }
  if (options.evalData.empty())
    return {};
  Result<runtime::HeldOutReader> held = runtime::Evaluation::open(rankOptions(options, program), program);
  return held ? held->checkIds() : std::move(held.error());
}

Status checkInput(const Options &options, const program::Program &program) {
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

// What is written must not be what is read.
static Status checkApart(const Options &options) {
  auto clash = [](const std::string &a, const std::string &b) {
    std::error_code error;
    return !a.empty() && !b.empty() && (a == b || std::filesystem::equivalent(a, b, error));
  };
  const std::pair<const char *, const std::string *> files[] = {{"OUT", &options.executable},
                                                                {"--data", &options.data},
                                                                {"--eval-data", &options.evalData},
                                                                {"--metrics", &options.metrics},
                                                                {"--trace", &options.trace}};
  for (size_t written = 3; written < 5; ++written)
    for (size_t other = 0; other < written; ++other)
      if (clash(*files[written].second, *files[other].second))
        return Error{ErrorKind::Invalid,
                     fmt::format("{} and {} are the same file '{}'", files[written].first, files[other].first,
                                 *files[written].second),
                     {}};
  return {};
}

Status checkOutput(const Options &options) {
  if (Status apart = checkApart(options); !apart)
    return apart;
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
                 fmt::format("{} ranks need {} ({} bytes) of memory, this machine has {} ({} bytes) free", ranks,
                             bytesText(needed), needed, bytesText(available), available),
                 {}};
  return {};
}

} // namespace hocket::run
