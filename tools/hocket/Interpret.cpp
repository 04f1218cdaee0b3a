// hocket interpret: trains by reference semantics, whole or under a plan on all its ranks in lockstep. Slow and exact;
// it judges what the compiler makes.
#include "passes/Dist/LockstepCollectives.h"
#include "passes/Interpreter/Comparison.h"
#include "runtime/Data/BatchReader.h"
#include "runtime/Launch/Counted.h"
#include "runtime/Launch/DataFlags.h"
#include "runtime/Launch/FlagRules.h"
#include "tools/CommandLine.h"
#include "tools/hocket/ChooseWithin.h"
#include "tools/hocket/Commands.h"
#include "tools/hocket/Lowering.h"
#include "tools/hocket/MemoryLimit.h"
#include <CLI/CLI.hpp>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

namespace {
struct InterpretOptions {
  ModelFile model;
  std::string precision = "f64";
  runtime::DataSource data;
  int64_t steps = 1;
  std::optional<uint64_t> seed;
  bool compare = false;
  PlanFlags plan;
  std::optional<uint64_t> memory;
};

/// A lowered module and the interpreter of its step.
struct Run {
  OwningOpRef<ModuleOp> module;
  interpreter::LockstepOps ops;
  std::unique_ptr<interpreter::Interpreter> machine;

  nn::TrainingStepOp step() { return *module->getOps<nn::TrainingStepOp>().begin(); }
  void start(const PlanChoice &choice, bool lockstep, const InterpretOptions &options, uint64_t seed) {
    dist::addLockstepCollectives(ops);
    auto precision = options.precision == "f32"        ? interpreter::Precision::Float32
                     : options.precision == "declared" ? interpreter::Precision::Declared
                                                       : interpreter::Precision::Float64;
    interpreter::RankGrid grid;
    if (lockstep)
      grid = dist::rankGridOf(choice.mesh);
    machine = std::make_unique<interpreter::Interpreter>(
        step(), grid, &ops, lockstep ? dist::slotLayoutOf(grid) : interpreter::SlotLayout{}, precision);
    machine->initialize(seed);
  }
};

/// The batch of a step as the runtime's ranks read it together.
struct BatchSource {
  std::optional<runtime::BatchReader> reader;
  int64_t rows = 0, microbatches = 0, sequence = 0;
  bool readsDocuments = false;

  bool open(Session &session, Run &run, PlanChoice choice, const InterpretOptions &options,
            const analysis::BatchShape &shape, uint64_t seed) {
    rows = shape.rows();
    microbatches = shape.microbatches;
    int64_t vocabulary = INT32_MAX;
    auto tokens = cast<RankedTensorType>(choice.model.getFunctionType().getInput(0));
    sequence = tokens.getDimSize(1);
    run.module->walk([&](nn::EmbeddingOp embedding) {
      auto ids = embedding.getIds().getDefiningOp<nn::ReadOp>();
      if (ids && ids.getKind() == nn::SlotKind::Input)
        vocabulary = cast<RankedTensorType>(embedding.getTable().getType()).getDimSize(0);
    });
    auto stream = runtime::TokenStream::open(options.data);
    if (!stream)
      return session.error(stream.error().message), false;
    readsDocuments = choice.model.getFunctionType().getNumInputs() > 2;
    runtime::BatchShape wanted{
        uint64_t(rows * microbatches), uint64_t(sequence), uint64_t(vocabulary), uint64_t(rows), 1, readsDocuments};
    auto made = runtime::BatchReader::create(std::move(*stream), wanted, seed);
    if (!made)
      return session.error(made.error().message), false;
    if (auto sound = made->check(); vocabulary != INT32_MAX && !sound)
      return session.error(sound.error().message), false;
    reader.emplace(std::move(*made));
    return true;
  }
  std::optional<interpreter::Batch> read(Session &session, int64_t step) {
    nn::HostTensor all({microbatches, rows, sequence});
    interpreter::Batch batch{all, all, readsDocuments ? all : nn::HostTensor()};
    int64_t size = rows * sequence;
    std::vector<int32_t> ids(size), next(size), documents(readsDocuments ? size : 0);
    for (int64_t m = 0; m < microbatches; ++m) {
      if (auto status = reader->read((step - 1) * rows * microbatches, m, 0, {ids, next, documents}); !status)
        return session.error(status.error().message), std::nullopt;
      std::copy(ids.begin(), ids.end(), batch.tokens.data.begin() + m * size);
      std::copy(next.begin(), next.end(), batch.labels.data.begin() + m * size);
      std::copy(documents.begin(), documents.end(), batch.documents.data.begin() + (readsDocuments ? m * size : 0));
    }
    return batch;
  }
};

int interpret(const InterpretOptions &options) {
  Session session;
  std::optional<Job> job = openJob(session, options.model, options.plan);
  if (!job || !chooseWithin(session, *job, options.memory, /*judges=*/false))
    return session.failure();
  PlanChoice &choice = job->choice;
  Run local, whole;
  local.module = lower(session, choice, job->shape, Layer::Local);
  whole.module = lower(session, choice, job->shape, Layer::NN);
  if (!local.module || !whole.module)
    return InputAtFault;
  auto recipeSeed = choice.recipe.entry<nn::SeedOp>();
  uint64_t seed = options.seed.value_or(recipeSeed ? recipeSeed.getSeed() : 0);
  BatchSource source;
  if (!source.open(session, whole, choice, options, job->shape, seed))
    return InputAtFault;
  local.start(choice, /*lockstep=*/true, options, seed);
  if (options.compare)
    whole.start(choice, /*lockstep=*/false, options, seed);
  for (Run *run : {&local, &whole})
    if (options.compare)
      run->machine->recordChoices();
  for (int64_t step = 1; step <= options.steps; ++step) {
    auto batch = source.read(session, step);
    if (!batch)
      return InputAtFault;
    auto result = local.machine->train(*batch);
    if (failed(result) || (options.compare && failed(whole.machine->train(*batch))))
      return InputAtFault;
    // JSON has no nan: null stands for a number that is not finite.
    nlohmann::ordered_json line{{"step", step},
                                {"loss", result->loss},
                                {"grad_norm", result->gradNorm},
                                {"lr", result->learningRate},
                                {"tokens", static_cast<int64_t>(result->tokens)}};
    if (double margin = local.machine->routerMargin(); std::isfinite(margin))
      line["router_margin"] = margin; // the smallest so far
    fmt::print("{}\n", line.dump());
  }
  if (options.compare) {
    auto differences = interpreter::compare(*whole.machine, *local.machine);
    if (failed(differences))
      return InputAtFault;
    fmt::print("{} in lockstep against the whole model, |difference| / |whole|:\n{}{}",
               run::counted(choice.mesh.getWorldSize(), "rank"), interpreter::reportText(*differences),
               interpreter::reportText(interpreter::compareChoices(*whole.machine, *local.machine)));
  }
  return Done;
}
} // namespace

Command hocket::tools::addInterpret(CLI::App &app, run::FlagRules &rules) {
  auto options = std::make_shared<InterpretOptions>();
  auto *command = app.add_subcommand(
      "interpret", "reference semantics, under a plan on all ranks in lockstep; slow, exact, small sizes");
  options->model.addTo(*command, rules);
  run::addDataFlags(*command, options->data)->required();
  command->add_option("--steps", options->steps, "steps (1)")->check(wholeNumber(1, 1 << 30));
  command->add_option("--seed", options->seed, "instead of the recipe's")->check(wholeNumber(0, INT64_MAX));
  command
      ->add_option("--precision", options->precision,
                   "f64; or every result rounded: to f32, or to its declared type (f64)")
      ->check(oneOf({"f64", "f32", "declared"}));
  command->add_flag("--compare", options->compare, "run the whole model as well, and compare gradients and parameters");
  addMemoryFlag(*command, options->memory, ", for `recompute auto` and ZeRO-3 that leaves open when it gathers");
  options->plan.addTo(*command, rules);
  return [options] { return interpret(*options); };
}
