// One file by `hocket compile` and `hocket-run`, against the interpreter's whole model in float64.
//
// Limits, of float32 with its unit u = 6e-8. A gradient element is a sum of at most some thousand products whose
// rounding errors have random signs, over a chain of some dozen ops: 100 u of what was summed. What was summed is
// larger than the sum where terms cancel (a key bias's gradient is nothing but such rounding), but no larger than about
// the norm of all gradients together. So a first moment, which is a tenth of the gradient, may be 1e-4 of its own norm
// off, or 1e-6 of the norm of all first moments; second moments, its squares, twice as much. Loss: a mean over tokens
// whose errors cancel, 1e-5. Norm of the gradients: 1e-4. A parameter may be 1e-4 of its norm off; and where its
// gradient is noise, as much as Adam makes of that: rate / eps times the 1e-6 of above, a step (rate 1e-3, eps 1e-5).
#include "passes/Interpreter/Interpreter.h"
#include "runtime/Data/BatchReader.h"
#include "test/property/Compilation.h"
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/wait.h>
using namespace mlir;

namespace hocket::property {
namespace {
constexpr double lossLimit = 1e-5, normLimit = 1e-4, ownLimit = 1e-4, allLimit = 1e-6;
constexpr double rateOverEps = 1e-3 / 1e-5;

std::string readAll(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Runs a shell command; what it says goes to `log`. Its exit status, 128 + signal for a signal.
int call(const std::string &command, const std::string &log) {
  int status = std::system(fmt::format("{} >{} 2>&1 </dev/null", command, log).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A tensor put together from the boxes that ranks dumped.
struct Dumped {
  std::vector<int64_t> shape;
  std::vector<double> values;
  std::vector<char> covered;
};
using State = std::map<std::pair<std::string, std::string>, Dumped>; // (kind, name)

int64_t product(const std::vector<int64_t> &shape) {
  int64_t all = 1;
  for (int64_t size : shape)
    all *= size;
  return all;
}

/// Copies one rank's box; false where it contradicts another rank's.
bool place(Dumped &whole, const nlohmann::json &tensor, const char *data) {
  std::vector<std::vector<int64_t>> box = tensor["box"];
  std::vector<int64_t> padded = tensor["padded"], sizes;
  for (auto &side : box)
    sizes.push_back(side[1] - side[0]);
  std::string type = tensor["type"];
  for (int64_t i = 0, count = product(sizes); i < count; ++i) {
    int64_t at = 0, from = 0, rest = i, stride = count;
    for (size_t d = 0; d < sizes.size(); ++d) {
      stride /= sizes[d];
      at = at * whole.shape[d] + box[d][0] + rest / stride;
      from = from * padded[d] + rest / stride;
      rest %= stride;
    }
    double value;
    if (type == "F32")
      value = reinterpret_cast<const float *>(data)[from];
    else if (type == "I64")
      value = static_cast<double>(reinterpret_cast<const int64_t *>(data)[from]);
    else
      return false;
    if (whole.covered[at] && whole.values[at] != value)
      return false;
    whole.covered[at] = 1;
    whole.values[at] = value;
  }
  return true;
}

State load(const std::string &folder, int64_t step, int64_t ranks, RunResult &result) {
  State state;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    std::string stem = fmt::format("{}/step{}.rank{}", folder, step, rank);
    auto listing = nlohmann::json::parse(readAll(stem + ".json"), nullptr, false);
    if (listing.is_discarded()) {
      result.cannotRun = fmt::format("nothing was dumped at {}", stem);
      return state;
    }
    std::string raw = readAll(stem + ".bin");
    for (const nlohmann::json &tensor : listing["tensors"]) {
      auto [it, fresh] = state.try_emplace({tensor["kind"], tensor["name"]});
      Dumped &whole = it->second;
      if (fresh) {
        whole.shape = tensor["shape"].get<std::vector<int64_t>>();
        whole.values.resize(product(whole.shape));
        whole.covered.resize(product(whole.shape));
      }
      if (!place(whole, tensor, raw.data() + tensor["offset"].get<size_t>()))
        result.cannotRun =
            fmt::format("ranks disagree on {} of {} after step {}", it->first.first, it->first.second, step);
    }
  }
  for (auto &[key, whole] : state)
    if (std::count(whole.covered.begin(), whole.covered.end(), 0))
      result.cannotRun = fmt::format("parts of {} of {} are on no rank", key.first, key.second);
  return state;
}

/// Norms of a difference and of what it is a difference from.
std::pair<double, double> norms(const Dumped &found, const nn::HostTensor &expected) {
  double off = 0, size = 0;
  for (int64_t i = 0; i < expected.size(); ++i) {
    off += (found.values[i] - expected[i]) * (found.values[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  return {std::sqrt(off), std::sqrt(size)};
}

struct Line {
  std::string name;
  double off, size;
};
/// One kind of state, parameter by parameter, and the norm of all.
std::optional<std::pair<std::vector<Line>, double>> linesOf(State &found, interpreter::Interpreter &one,
                                                            const char *kind, nn::SlotKind slot, RunResult &result) {
  std::vector<Line> lines;
  double all = 0;
  for (const std::string &name : one.parameters(/*trainedOnly=*/slot != nn::SlotKind::Param)) {
    FailureOr<nn::HostTensor> expected = one.state(slot, name);
    auto at = found.find({kind, name});
    if (failed(expected) || at == found.end() || static_cast<int64_t>(at->second.values.size()) != expected->size()) {
      result.cannotRun = fmt::format("{} of {} is in one of the two states only", kind, name);
      return std::nullopt;
    }
    auto [off, size] = norms(at->second, *expected);
    all += size * size;
    lines.push_back({name, off, size});
  }
  return std::pair(lines, std::sqrt(all));
}

void compareState(State &found, interpreter::Interpreter &one, int64_t step, RunResult &result) {
  auto first = linesOf(found, one, "FirstMoment", nn::SlotKind::FirstMoment, result);
  auto second = linesOf(found, one, "SecondMoment", nn::SlotKind::SecondMoment, result);
  auto parameter = linesOf(found, one, "Parameter", nn::SlotKind::Param, result);
  if (!first || !second || !parameter)
    return;
  auto compare = [&](const char *kind, const std::vector<Line> &lines, double own, double rest) {
    for (const Line &line : lines)
      see(result, fmt::format("{} of {} after step {} (norm {:.3g})", kind, line.name, step, line.size),
          line.off / (own * line.size + rest + 1e-30));
  };
  compare("first moment", first->first, ownLimit, allLimit * first->second);
  compare("second moment", second->first, 2 * ownLimit, 2 * allLimit * second->second);
  compare("parameter", parameter->first, ownLimit,
          static_cast<double>(step) * rateOverEps * allLimit * 10 * first->second);
}

/// The batch as the runtime's ranks read it together.
std::optional<interpreter::Batch> read(runtime::BatchReader &reader, int64_t step, int64_t rows, int64_t sequence) {
  int64_t shape[] = {1, rows, sequence}, size = rows * sequence;
  interpreter::Batch batch{nn::HostTensor(shape), nn::HostTensor(shape), {}};
  std::vector<int32_t> ids(size), next(size), documents;
  if (!reader.read((step - 1) * rows, 0, 0, {ids, next, documents}))
    return std::nullopt;
  std::copy(ids.begin(), ids.end(), batch.tokens.data.begin());
  std::copy(next.begin(), next.end(), batch.labels.data.begin());
  return batch;
}

void refuse(RunResult &result, const std::string &who, const std::string &log) {
  result.refusedBy = who;
  std::stringstream lines(readAll(log));
  for (std::string line; std::getline(lines, line);)
    if (size_t at = line.find("error: "); at != std::string::npos)
      result.sentences.push_back(line.substr(at + 7));
}

struct Sizes {
  int64_t vocabulary = 0, sequence = 0;
};
Sizes sizesOf(nn::TrainingStepOp step) {
  Sizes sizes;
  step.walk([&](nn::EmbeddingOp embedding) {
    if (embedding.getIds().getDefiningOp<nn::ReadOp>()) {
      sizes.vocabulary = cast<RankedTensorType>(embedding.getTable().getType()).getDimSize(0);
      sizes.sequence = cast<RankedTensorType>(embedding.getIds().getType()).getDimSize(1);
    }
  });
  return sizes;
}

void writeTokens(const std::string &path, const Sizes &sizes, int64_t count) {
  std::mt19937 random(static_cast<unsigned>(sizes.vocabulary));
  std::vector<uint16_t> ids(count);
  for (uint16_t &id : ids)
    id = static_cast<uint16_t>(random() % static_cast<unsigned>(sizes.vocabulary));
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(ids.data()), static_cast<std::streamsize>(2 * count));
}

/// What hocket-run left in the folder (metrics, and states after the first and the last step) against the interpreter,
/// which trains on the same batches.
void compareRun(const std::string &folder, nn::TrainingStepOp step, runtime::BatchReader &reader, const Sizes &sizes,
                int64_t rows, uint64_t seed, int64_t steps, int64_t ranks, RunResult &result) {
  interpreter::Interpreter one(step);
  one.initialize(seed);
  std::stringstream metrics(readAll(folder + "/metrics"));
  for (int64_t number = 1; number <= steps && result.cannotRun.empty(); ++number) {
    auto batch = read(reader, number, rows, sizes.sequence);
    auto expected = batch ? one.train(*batch) : FailureOr<interpreter::StepResult>(failure());
    std::string line;
    std::getline(metrics, line);
    auto found = nlohmann::json::parse(line, nullptr, false);
    if (failed(expected) || found.is_discarded() || found["step"] != number || !found["loss"].is_number()) {
      result.cannotRun = fmt::format("step {} has no numbers: {}", number, line);
      return;
    }
    result.discarded |= one.routerMargin() < 1e-4; // rounded logits
    see(result, fmt::format("loss of step {}", number),
        std::abs(found["loss"].get<double>() / expected->loss - 1) / lossLimit);
    see(result, fmt::format("gradient norm of step {}", number),
        std::abs(found["grad_norm"].get<double>() / expected->gradNorm - 1) / normLimit);
    if (number != 1 && number != steps)
      continue;
    State state = load(folder + "/state", number, ranks, result);
    if (result.cannotRun.empty())
      compareState(state, one, number, result);
  }
}
} // namespace

RunResult runExecutable(const std::string &text, const std::string &folder, int64_t steps) {
  RunResult result;
  result.allowed = 1;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/draw.mlir") << text;
  std::string log = folder + "/log", tokens = folder + "/tokens";
  if (int status =
          call(fmt::format("hocket compile {0}/draw.mlir --plan plan --threads 1 -o {0}/program", folder), log)) {
    refuse(result, status == 1 ? "hocket compile" : "a verifier between passes", log);
    return result;
  }
  RunResult quiet; // the whole model compiles where its plan does
  Compilation compilation(text, 0, quiet);
  OwningOpRef<ModuleOp> whole = compilation.sound ? compilation.whole() : nullptr;
  if (!whole) {
    result.cannotRun = "compiles, but not here: " + quiet.refusedBy;
    return result;
  }
  auto step = *whole->getOps<nn::TrainingStepOp>().begin();
  auto mesh = *llvm::find_if(whole->getOps<dist::MeshOp>(), [](dist::MeshOp op) { return op.getSymName() == "mesh"; });
  Sizes sizes = sizesOf(step);
  int64_t rows = compilation.shape.rows() * compilation.shape.microbatches;
  writeTokens(tokens, sizes, (steps + 1) * rows * sizes.sequence + 1);
  if (call(fmt::format("hocket-run -n {} {}/program --data {} --data-type u16 --steps {} --timeout 120 --metrics "
                       "{}/metrics --dump {}/state --dump-steps {}",
                       mesh.getWorldSize(), folder, tokens, steps, folder, folder,
                       steps == 1 ? "1" : fmt::format("1,{}", steps)),
           log)) {
    result.cannotRun = "hocket-run fails: " + readAll(log);
    return result;
  }
  uint64_t seed = compilation.recipe().entry<nn::SeedOp>().getSeed();
  auto stream = runtime::TokenStream::open({tokens, runtime::parseDataFormat("u16")});
  auto reader =
      stream
          ? std::optional(runtime::BatchReader::create(
                std::move(*stream),
                {uint64_t(rows), uint64_t(sizes.sequence), uint64_t(sizes.vocabulary), uint64_t(rows), 1, false}, seed))
          : std::nullopt;
  if (!reader || !*reader) {
    result.cannotRun = "the tokens cannot be read";
    return result;
  }
  compareRun(folder, step, **reader, sizes, rows, seed, steps, mesh.getWorldSize(), result);
  return result;
}
} // namespace hocket::property
