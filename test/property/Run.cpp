// One file from text to numbers, in this process.
#include "test/property/Run.h"
#include "passes/Dist/LockstepCollectives.h"
#include "passes/Interpreter/Comparison.h"
#include "test/property/Compilation.h"
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <regex>
using namespace mlir;

namespace hocket::property {
void see(RunResult &result, const std::string &name, double partOfAllowed) {
  if (!(partOfAllowed <= result.worst)) {
    result.worst = partOfAllowed == partOfAllowed ? partOfAllowed : std::numeric_limits<double>::infinity();
    result.worstName = name;
  }
}

namespace {
constexpr double tolerance = 1e-9;
constexpr double smallestMargin = 1e-5; // of routers: below it a choice may go either way

interpreter::Batch batchOf(nn::TrainingStepOp whole, uint64_t seed) {
  std::mt19937_64 random(seed);
  SmallVector<int64_t> shape{1};
  int64_t vocabulary = INT64_MAX, inputs = 0;
  for (auto slot : whole.getSlots().front().getOps<nn::SlotOp>())
    if (slot.getKind() == nn::SlotKind::Input && slot.getName() != "step" && slot.getName() != "draws" &&
        !slot.getName().ends_with(".all") && ++inputs == 1)
      shape.append(cast<RankedTensorType>(slot.getType()).getShape().begin(),
                   cast<RankedTensorType>(slot.getType()).getShape().end());
  whole.walk([&](nn::EmbeddingOp embedding) {
    if (embedding.getIds().getDefiningOp<nn::ReadOp>())
      vocabulary = cast<RankedTensorType>(embedding.getTable().getType()).getDimSize(0);
  });
  interpreter::Batch batch{nn::HostTensor(shape), nn::HostTensor(shape),
                           inputs > 2 ? nn::HostTensor(shape) : nn::HostTensor()};
  for (int64_t i = 0; i < batch.tokens.size(); ++i) {
    batch.tokens[i] = static_cast<double>(random() % vocabulary);
    batch.labels[i] = random() % 4 == 0 ? -1 : static_cast<double>(random() % vocabulary);
    if (inputs > 2)
      batch.documents[i] = i % shape.back() ? batch.documents[i - 1] + static_cast<double>(random() % 3 == 0) : 0;
  }
  return batch;
}

interpreter::Batch cut(const interpreter::Batch &all, const analysis::BatchShape &shape) {
  interpreter::Batch batch = all;
  for (nn::HostTensor *tensor : {&batch.tokens, &batch.labels, &batch.documents})
    if (tensor->rank() > 0)
      tensor->shape = {shape.microbatches, shape.rows(), tensor->shape.back()};
  return batch;
}

double relative(double value, double reference) { return value == reference ? 0 : std::abs(value / reference - 1); }

LogicalResult passThrough(Operation *, ArrayRef<const interpreter::PerRank *> operands,
                          MutableArrayRef<interpreter::PerRank> results, const interpreter::RankGrid &) {
  for (auto [x, y] : llvm::zip(operands, results))
    y = *x;
  return success();
}

nn::TrainingStepOp stepOf(ModuleOp module) { return *module.getOps<nn::TrainingStepOp>().begin(); }

void compare(ModuleOp whole, ModuleOp local, const analysis::BatchShape &shape, uint64_t seed, int64_t steps,
             const std::string &broken, RunResult &result) {
  interpreter::LockstepOps ops;
  dist::addLockstepCollectives(ops);
  if (!broken.empty())
    ops.add(broken, passThrough);
  interpreter::RankGrid grid = dist::rankGridOf(*local.getOps<dist::MeshOp>().begin());
  for (auto mesh : local.getOps<dist::MeshOp>())
    if (mesh.getSymName() == "mesh")
      grid = dist::rankGridOf(mesh);
  interpreter::Interpreter one(stepOf(whole)), many(stepOf(local), grid, &ops, dist::slotLayoutOf(grid));
  one.initialize(seed);
  many.initialize(seed);
  for (int64_t step = 1; step <= steps; ++step) {
    interpreter::Batch batch = batchOf(stepOf(whole), seed * 31 + step);
    auto expected = one.train(batch), found = many.train(cut(batch, shape));
    if (failed(expected) || failed(found)) {
      result.cannotRun = failed(expected) ? "the whole model does not run" : "the partitioned program does not run";
      return;
    }
    see(result, "loss", relative(found->loss, expected->loss) / tolerance);
    see(result, "gradient norm", relative(found->gradNorm, expected->gradNorm) / tolerance);
    result.discarded |= one.routerMargin() < smallestMargin;
    see(result, "tokens", std::abs(found->tokens - expected->tokens) / tolerance);
    see(result, "skipped", std::abs(found->skipped - expected->skipped) / tolerance);
    auto differences = interpreter::compare(one, many);
    if (failed(differences)) {
      result.cannotRun = "ranks that hold the same elements disagree";
      return;
    }
    // Where the true value is nearly zero (gradients of key biases) the absolute difference counts.
    for (const interpreter::TensorDifference &difference : *differences)
      see(result, fmt::format("{} after step {}", difference.name, step),
          std::min(difference.relative, difference.absolute) / tolerance);
  }
}
} // namespace

RunResult runFile(const std::string &text, uint64_t seed, int64_t steps, int64_t wholeBelow,
                  const std::string &broken) {
  RunResult result;
  Compilation compilation(text, wholeBelow, result);
  if (!compilation.sound)
    return result;
  OwningOpRef<ModuleOp> local = compilation.local();
  if (!local)
    return result;
  OwningOpRef<ModuleOp> step(local->clone());
  if (!compilation.toStep(*step))
    return result;
  if (OwningOpRef<ModuleOp> whole = compilation.whole())
    compare(*whole, *local, compilation.shape, seed, steps, broken, result);
  return result;
}

/// A sentence for a person: no capital first, no period last, no C++ names, and not the compiler's own fault.
static bool isClear(const std::string &sentence) {
  static const std::regex bad("^[A-Z][a-z]|\\.$|mlir::|hocket::|llvm|fault of the compiler|without saying why|assert");
  return !sentence.empty() && !std::regex_search(sentence, bad);
}

Verdict judge(const Expectation &owed, const RunResult &result) {
  std::string errors = fmt::format("{}:", result.refusedBy);
  for (const std::string &sentence : result.sentences)
    errors += "\n  error: " + sentence;
  if (!result.cannotRun.empty())
    return {"does not run", result.cannotRun + errors};
  if (result.refusedBy.empty()) {
    if (owed.kind == Expectation::Refuses)
      return {"takes what is illegal", "compiles; an error was owed that matches: " + owed.sentence};
    if (!(result.worst <= 1) && !result.discarded)
      return {"wrong numbers", fmt::format("{} differs from one rank's by {:.3g}, {:.3g} times the limit",
                                           result.worstName, result.worst * result.allowed, result.worst)};
    return {};
  }
  bool ours = result.refusedBy == "dist-verify-partition" || result.refusedBy == "step-verify-program" ||
              result.refusedBy == "a verifier between passes";
  if (ours)
    return {"the compiler's own judge refuses", "refused by " + errors};
  if (owed.kind == Expectation::Runs)
    return {"refuses what is legal", "refused by " + errors};
  for (const std::string &sentence : result.sentences)
    if (!isClear(sentence))
      return {"unclear error", "refused by " + errors};
  if (result.sentences.empty())
    return {"unclear error", "refused without a word by " + result.refusedBy};
  if (owed.kind == Expectation::Refuses) {
    std::regex sentence(owed.sentence);
    if (std::none_of(result.sentences.begin(), result.sentences.end(),
                     [&](auto &s) { return std::regex_search(s, sentence); }))
      return {"another error", fmt::format("owed: {}\nrefused by {}", owed.sentence, errors)};
  }
  return {};
}
} // namespace hocket::property
