// JSON of RunOptions, and the shared RunControl.
#include "runtime/Executor/RunOptions.h"
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>

namespace hocket::runtime {

template <class T> static void getOptional(const nlohmann::json &from, const char *key, std::optional<T> &to) {
  if (from.contains(key))
    to = from.at(key).get<T>();
}

static void to_json(nlohmann::json &to, const DataSource &source) {
  to = {{"path", source.path}, {"mask_document_ends", source.maskDocumentEnds}, {"shuffle", source.shuffle}};
  if (source.format)
    to["format"] = toString(*source.format);
  if (source.documentEnd)
    to["document_end"] = *source.documentEnd;
  if (source.padding)
    to["padding"] = *source.padding;
}

static void from_json(const nlohmann::json &from, DataSource &source) {
  from.at("path").get_to(source.path);
  from.at("mask_document_ends").get_to(source.maskDocumentEnds);
  from.at("shuffle").get_to(source.shuffle);
  if (from.contains("format"))
    source.format = parseDataFormat(from.at("format").get<std::string>());
  getOptional(from, "document_end", source.documentEnd);
  getOptional(from, "padding", source.padding);
}

std::string RunOptions::json() const {
  return nlohmann::json{{"rank", rank},
                        {"world", world},
                        {"launcher", launcher},
                        {"data", data},
                        {"steps", steps},
                        {"seed", seed},
                        {"eval_data", evalData},
                        {"eval_every", evalEvery},
                        {"eval_steps", evalSteps},
                        {"timeout_seconds", timeoutSeconds},
                        {"check_finite", checkFinite},
                        {"local_rank", localRank},
                        {"emulate", emulate ? nlohmann::json(*emulate) : nlohmann::json()},
                        {"tool_folder", toolFolder},
                        {"calls", calls},
                        {"trace", trace},
                        {"dump", dump},
                        {"dump_steps", dumpSteps},
                        {"save", save},
                        {"save_every", saveEvery},
                        {"keep", keep},
                        {"resume", resume},
                        {"reports", reports},
                        {"release", release},
                        {"control", control}}
      .dump();
}

Result<RunOptions> RunOptions::parse(const std::string &text) {
  try {
    nlohmann::json from = nlohmann::json::parse(text);
    RunOptions result;
    from.at("rank").get_to(result.rank);
    from.at("world").get_to(result.world);
    from.at("launcher").get_to(result.launcher);
    from.at("data").get_to(result.data);
    from.at("steps").get_to(result.steps);
    from.at("seed").get_to(result.seed);
    from.at("eval_data").get_to(result.evalData);
    from.at("eval_every").get_to(result.evalEvery);
    from.at("eval_steps").get_to(result.evalSteps);
    from.at("timeout_seconds").get_to(result.timeoutSeconds);
    from.at("check_finite").get_to(result.checkFinite);
    from.at("local_rank").get_to(result.localRank);
    if (!from.at("emulate").is_null())
      result.emulate = from.at("emulate").get<uint64_t>();
    from.at("tool_folder").get_to(result.toolFolder);
    from.at("calls").get_to(result.calls);
    from.at("trace").get_to(result.trace);
    from.at("dump").get_to(result.dump);
    from.at("dump_steps").get_to(result.dumpSteps);
    from.at("save").get_to(result.save);
    from.at("save_every").get_to(result.saveEvery);
    from.at("keep").get_to(result.keep);
    from.at("resume").get_to(result.resume);
    from.at("reports").get_to(result.reports);
    from.at("release").get_to(result.release);
    from.at("control").get_to(result.control);
    return result;
  } catch (const nlohmann::json::exception &) {
    return Error{ErrorKind::Invalid,
                 fmt::format("{} does not hold what a launcher writes; only hocket-run sets it, unset it to start this "
                             "program in another way",
                             runVariable),
                 {}};
  }
}

Result<RunOptions> RunOptions::fromEnvironment() {
  const char *text = std::getenv(runVariable);
  if (!text)
    return Error{ErrorKind::Invalid,
                 "this is one rank of a parallel program; start it with hocket-run -n RANKS, mpirun or srun",
                 {}};
  return parse(text);
}

Result<RunControl *> mapRunControl(int descriptor) {
  void *at = ::mmap(nullptr, sizeof(RunControl), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (at == MAP_FAILED)
    return Error{ErrorKind::Lacking, fmt::format("cannot map the run's control memory: {}", std::strerror(errno)), {}};
  return static_cast<RunControl *>(at);
}

} // namespace hocket::runtime
