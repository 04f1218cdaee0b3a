// Collects and prints what is kept and what is made again.
#include "tools/hocket/ActivationReport.h"
#include "dialect/Step/Step.h"
#include "tools/hocket/AlikeLines.h"
#include "tools/hocket/Report.h"
#include <fmt/format.h>
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

/// "attention", "linear", "all_reduce"; a named function by its name.
static std::string opText(Operation *op) {
  if (auto function = dyn_cast<nn::ElementwiseOp>(op); function && function.getName())
    return function.getName()->str();
  if (auto collective = dyn_cast<step::CollectiveOp>(op))
    return step::stringifyCollectiveKind(collective.getKind()).str();
  return op->getName().stripDialect().str();
}

static uint64_t bytesOf(Operation *op) {
  uint64_t bytes = 0;
  for (Type type : op->getResultTypes())
    bytes += step::byteSize(cast<ShapedType>(type));
  return bytes;
}

static void addWork(Operation *op, StageActivations &out) {
  auto meaning = dyn_cast<nn::ReferenceOpInterface>(op);
  uint64_t flops = meaning ? meaning.getFlops() : 0;
  if (nn::getPhase(op) != nn::Phase::Recompute) {
    out.modelFlops += flops;
    return;
  }
  out.recomputedFlops += flops;
  if (op->getNumResults())
    out.again.push_back({nn::getPath(op).str(), opText(op), bytesOf(op), flops, isa<step::CollectiveOp>(op)});
}

static StageActivations ofStage(step::ProgramOp program) {
  StageActivations out;
  out.stage = program.getStage();
  out.microbatches = program.getMicrobatches();
  llvm::DenseMap<Value, step::StoreOp> stores;
  for (auto body : program.ops<step::BodyOp>()) {
    if (step::runsOnce(body.getKind()))
      continue;
    for (Operation &op : body.getBody().front())
      if (auto store = dyn_cast<step::StoreOp>(op))
        stores.try_emplace(store.getBuffer(), store);
      else
        addWork(&op, out);
  }
  for (auto schedule : program.ops<step::ScheduleOp>())
    for (const step::Row &row : schedule.getTable().getRows())
      out.slots = std::max(out.slots, row.slot + 1);
  for (auto buffer : program.ops<step::BufferOp>()) {
    if (buffer.getSpace() != step::Space::Slot)
      continue;
    uint64_t bytes = buffer.getBytes();
    step::StoreOp store = stores.lookup(buffer.getBuffer());
    if (!store) {
      out.kept.push_back({buffer.getName().str(), "received", "", bytes});
      continue;
    }
    Operation *maker = store.getValue().getDefiningOp();
    auto kind = cast<step::BodyOp>(store->getParentOp()).getKind();
    out.kept.push_back({nn::getPath(maker).str(), opText(maker), step::stringifyBodyKind(kind).str(), bytes});
  }
  return out;
}

std::vector<StageActivations> hocket::tools::activationsOf(ModuleOp steps) {
  std::vector<StageActivations> stages;
  for (auto program : steps.getOps<step::ProgramOp>())
    stages.push_back(ofStage(program));
  return stages;
}

nlohmann::ordered_json hocket::tools::activationsJson(const std::vector<StageActivations> &stages) {
  nlohmann::ordered_json out = nlohmann::json::array();
  for (const StageActivations &stage : stages) {
    nlohmann::ordered_json kept = nlohmann::json::array(), again = nlohmann::json::array();
    for (const KeptActivation &each : stage.kept)
      kept.push_back({{"path", each.path}, {"op", each.op}, {"left_by", each.body}, {"bytes", each.bytes}});
    for (const MadeAgain &each : stage.again)
      again.push_back({{"path", each.path},
                       {"op", each.op},
                       {"bytes", each.bytes},
                       {"flops", each.flops},
                       {"collective", each.collective}});
    out.push_back({{"stage", stage.stage},
                   {"in_flight", stage.slots},
                   {"kept", kept},
                   {"made_again", again},
                   {"model_flops", stage.modelFlops * stage.microbatches},
                   {"recomputed_flops", stage.recomputedFlops * stage.microbatches}});
  }
  return out;
}

static std::string keptText(const StageActivations &stage) {
  AlikeLines<KeptActivation> alike;
  uint64_t all = 0;
  for (const KeptActivation &each : stage.kept) {
    auto [pattern, layer] = withoutLayer(each.path);
    alike.add(fmt::format("{} {} {} {}", pattern, each.op, each.body, each.bytes), each, layer, 1);
    all += each.bytes;
  }
  std::string out = fmt::format("  kept      {} a microbatch, {} in flight:\n", bytesText(all), stage.slots);
  for (auto &line : alike.lines)
    out += fmt::format("    {:>5} x {:>11}  {} {}{}\n", line.count, bytesText(line.item.bytes),
                       alike.name(line, withoutLayer(line.item.path).first, false), line.item.op,
                       line.item.body.empty() || line.item.body == "forward" ? "" : ", left by " + line.item.body);
  return out;
}

static std::string againText(const StageActivations &stage) {
  if (stage.again.empty())
    return "";
  AlikeLines<MadeAgain> alike;
  for (const MadeAgain &each : stage.again) {
    auto [pattern, layer] = withoutLayer(each.path);
    alike.add(fmt::format("{} {} {} {}", pattern, each.op, each.bytes, each.flops), each, layer, 1);
  }
  std::string out = "  again     made again in backward:\n";
  for (auto &line : alike.lines)
    out += fmt::format("    {:>5} x {:>11}  {} {}, {}\n", line.count, bytesText(line.item.bytes),
                       alike.name(line, withoutLayer(line.item.path).first, false), line.item.op,
                       line.item.collective ? "sent again" : fmt::format("{} operations", line.item.flops));
  return out;
}

std::string hocket::tools::activationsText(const std::vector<StageActivations> &stages) {
  std::string out;
  for (const StageActivations &stage : stages) {
    out += fmt::format("\nactivations of stage {}, on one rank\n{}{}", stage.stage, keptText(stage), againText(stage));
    out += fmt::format("  work      {} operations of the model a step, {} made again ({:.1f} %)\n",
                       stage.modelFlops * stage.microbatches, stage.recomputedFlops * stage.microbatches,
                       stage.modelFlops ? 100.0 * double(stage.recomputedFlops) / double(stage.modelFlops) : 0.0);
  }
  return out;
}
