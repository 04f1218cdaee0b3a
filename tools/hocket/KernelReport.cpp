// See KernelReport.h.
#include "tools/hocket/KernelReport.h"
#include "runtime/Launch/Counted.h"
#include "runtime/Program/Mesh.h"
#include "tools/hocket/ProgramTables.h"
#include "tools/hocket/Report.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
using namespace hocket;
using namespace hocket::tools;

namespace {
std::string typeName(program::DType type) {
  std::string text = program::EnumNameDType(type);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// "bf16 4096 x 768 x 3072, B transposed, then gelu_grad": m x n x k.
std::string productName(const program::InstructionT &product) {
  const program::Gemm &gemm = *product.gemm;
  std::string name = fmt::format("{} {} x {} x {}", typeName(product.type), gemm.m(), gemm.n(), gemm.k());
  if (gemm.batch() > 1)
    name += fmt::format(", {} times", gemm.batch());
  for (auto [transposed, matrix] : {std::pair(gemm.transA(), "A"), std::pair(gemm.transB(), "B")})
    if (transposed)
      name += fmt::format(", {} transposed", matrix);
  if (product.resultType != product.type)
    name += " to " + typeName(product.resultType);
  if (gemm.accumulate())
    name += ", added";
  if (product.epilogue != program::Epilogue::None)
    name += ", then " + snakeCase(program::EnumNameEpilogue(product.epilogue));
  return name;
}

WorkReport productWork(const program::InstructionT &product) {
  const program::Gemm &gemm = *product.gemm;
  uint64_t in = program::sizeOf(product.type), out = program::sizeOf(product.resultType), batch = gemm.batch();
  uint64_t bytes = batch * (gemm.m() * gemm.k() * in + gemm.k() * gemm.n() * in +
                            gemm.m() * gemm.n() * out * (gemm.accumulate() ? 2 : 1));
  for (size_t i = 3; i < product.buffers.size(); ++i)
    bytes += product.buffers[i].bytes();
  bool narrow = product.type == program::DType::BF16 || product.type == program::DType::F16;
  return {productName(product),
          0,
          2 * batch * gemm.m() * gemm.n() * gemm.k(),
          bytes,
          narrow ? analysis::GpuUnits::Tensor16 : analysis::GpuUnits::Float32,
          true};
}

WorkReport kernelWork(const program::KernelT &kernel, uint32_t index) {
  bool tensorCores = kernel.gpu && kernel.gpu->ptx.find("mma.sync") != std::string::npos;
  return {kernel.symbol,
          index,
          kernel.flops,
          kernel.bytes,
          tensorCores ? analysis::GpuUnits::Tensor16 : analysis::GpuUnits::Float32,
          false};
}

struct Collector {
  const program::ProgramT &program;
  KernelReport report;
  std::map<std::string, size_t> index;

  size_t add(const program::InstructionT &each) {
    bool product = each.op == program::Op::Gemm;
    std::string name = product ? productName(each) : program.kernels[each.kernel]->symbol;
    auto [at, fresh] = index.try_emplace(name, report.work.size());
    if (fresh)
      report.work.push_back(product ? productWork(each) : kernelWork(*program.kernels[each.kernel], each.kernel));
    return at->second;
  }

  StageWork of(const program::RankProgramT &rank) {
    std::map<size_t, size_t> place;
    StageWork out{{rank.stage}, {}};
    for (const program::Row &row : trainingOf(rank).rows) {
      if (row.kind() != program::RowKind::Body)
        continue;
      for (auto &each : rank.bodies[row.index()]->instructions) {
        if (each->op != program::Op::Kernel && each->op != program::Op::Gemm)
          continue;
        size_t work = add(*each);
        auto [at, fresh] = place.try_emplace(work, out.times.size());
        if (fresh)
          out.times.push_back({work, 0});
        ++out.times[at->second].second;
      }
    }
    return out;
  }
};

struct KernelWriter {
  const KernelReport &report;
  const program::ProgramT &program;
  const analysis::Gpu *gpu;
  std::string out;

  analysis::Floor floor(const WorkReport &work) const {
    return analysis::floorOf(*gpu, static_cast<int64_t>(work.bytes), static_cast<int64_t>(work.flops), work.units);
  }

  /// "32/32/40": a figure for each architecture; one number where all say the same.
  static std::string figure(const program::GpuLaunchT &launch, uint32_t (program::GpuFigures::*of)() const) {
    std::vector<uint32_t> values;
    for (const program::GpuFigures &each : launch.figures)
      values.push_back((each.*of)());
    if (values.empty())
      return "?";
    if (std::equal(values.begin() + 1, values.end(), values.begin()))
      values.resize(1);
    return fmt::format("{}", fmt::join(values, "/"));
  }

  void writeLaunches(const program::GpuCodeT &code) {
    for (auto &launch : code.launches) {
      const program::GpuShape &s = *launch->shape;
      out += fmt::format("    {}grid {} x {} x {}, block {} x {} x {}; registers {}, shared {}{}, spilled {}\n",
                         code.launches.size() > 1 ? launch->symbol + ": " : "", s.gridX(), s.gridY(), s.gridZ(),
                         s.blockX(), s.blockY(), s.blockZ(), figure(*launch, &program::GpuFigures::registers),
                         figure(*launch, &program::GpuFigures::sharedBytes),
                         s.sharedBytes() ? fmt::format(" + {}", s.sharedBytes()) : "",
                         figure(*launch, &program::GpuFigures::spilledBytes));
    }
  }

  void writeWork() {
    for (const WorkReport &work : report.work) {
      out += fmt::format("  {}{}: {}, {} FLOPs{}\n", work.product ? "product " : "", work.name, bytesText(work.bytes),
                         work.flops, gpu ? "; at least " + analysis::floorText(floor(work)) : "");
      if (!work.product && program.kernels[work.kernel]->gpu)
        writeLaunches(*program.kernels[work.kernel]->gpu);
    }
  }

  void writeStage(const StageWork &stage) {
    uint64_t launches = 0, products = 0;
    double seconds = 0;
    for (auto [index, times] : stage.times) {
      const WorkReport &work = report.work[index];
      const program::GpuCodeT *code = work.product ? nullptr : program.kernels[work.kernel]->gpu.get();
      products += work.product ? times : 0;
      launches += code ? times * code->launches.size() : 0;
      seconds += gpu ? floor(work).seconds() * static_cast<double>(times) : 0;
    }
    out +=
        fmt::format("{} {}: {} and {} a step{}\n", stage.stages.size() > 1 ? "stages" : "stage",
                    fmt::join(stage.stages, " "), run::counted(launches, "launch"), run::counted(products, "product"),
                    gpu ? fmt::format("; at least {:.3f} ms of a step", seconds * 1e3) : "");
    for (auto [index, times] : stage.times)
      out +=
          fmt::format("  {:>6} x {}{}\n", times, report.work[index].product ? "product " : "", report.work[index].name);
  }

  std::string write() {
    std::vector<std::string> architectures;
    for (auto &kernel : program.kernels)
      for (size_t i = 0; kernel->gpu && architectures.size() < kernel->gpu->cubins.size(); ++i)
        architectures.push_back(fmt::format("sm_{}", kernel->gpu->cubins[i]->architecture));
    out = "kernels and products, each run once; figures ";
    out += architectures.empty() ? "are not known without ptxas" : fmt::format("for {}", fmt::join(architectures, "/"));
    if (gpu)
      out += fmt::format("; at least: on {}, the longer of its bytes at {} TB/s and its FLOPs at {} TFLOP/s (16-bit "
                         "products) or {} (f32)",
                         gpu->name.str(), gpu->terabytesPerSecond, gpu->tensor16Teraflops, gpu->float32Teraflops);
    out += "\n";
    writeWork();
    for (const StageWork &stage : report.stages)
      writeStage(stage);
    return std::move(out);
  }
};
} // namespace

static std::optional<uint32_t> stageOf(const program::ProgramT &program, std::optional<uint32_t> rank) {
  if (!rank || program.stageAxis < 0)
    return std::nullopt;
  std::vector<program::Mesh::Axis> axes;
  for (auto &axis : program.axes)
    axes.push_back({axis->name, axis->size});
  return program::Mesh(axes).coordinates(*rank)[static_cast<size_t>(program.stageAxis)];
}

KernelReport hocket::tools::kernelReport(const program::ProgramT &program, std::optional<uint32_t> rank) {
  Collector collector{program, {}, {}};
  std::optional<uint32_t> wanted = stageOf(program, rank);
  for (auto &rank : program.ranks) {
    if (wanted && rank->stage != *wanted)
      continue;
    StageWork work = collector.of(*rank);
    auto &stages = collector.report.stages;
    auto same = std::find_if(stages.begin(), stages.end(), [&](auto &other) { return other.times == work.times; });
    if (same == stages.end())
      stages.push_back(std::move(work));
    else
      same->stages.push_back(rank->stage);
  }
  return std::move(collector.report);
}

std::string hocket::tools::kernelText(const KernelReport &report, const program::ProgramT &program,
                                      const analysis::Gpu *gpu) {
  return KernelWriter{report, program, gpu, {}}.write();
}

static nlohmann::ordered_json launchJson(const program::GpuLaunchT &launch) {
  const program::GpuShape &shape = *launch.shape;
  nlohmann::ordered_json figures = nlohmann::json::array();
  for (const program::GpuFigures &each : launch.figures)
    figures.push_back({{"architecture", fmt::format("sm_{}", each.architecture())},
                       {"registers", each.registers()},
                       {"shared_bytes", each.sharedBytes()},
                       {"stack_bytes", each.stackBytes()},
                       {"spilled_bytes", each.spilledBytes()}});
  return {{"symbol", launch.symbol},
          {"grid", {shape.gridX(), shape.gridY(), shape.gridZ()}},
          {"block", {shape.blockX(), shape.blockY(), shape.blockZ()}},
          {"shared_bytes", shape.sharedBytes()},
          {"figures", figures}};
}

nlohmann::ordered_json hocket::tools::kernelJson(const KernelReport &report, const program::ProgramT &program,
                                                 const analysis::Gpu *gpu) {
  nlohmann::ordered_json out;
  out["model"] = program.name;
  out["plan"] = program.plan;
  out["target"] = program.target;
  if (gpu)
    out["gpu"] = gpu->name.str();
  out["kernels"] = out["products"] = nlohmann::json::array();
  for (const WorkReport &work : report.work) {
    nlohmann::ordered_json item{{"name", work.name}, {"bytes", work.bytes}, {"flops", work.flops}};
    if (gpu)
      item["floor_us"] = KernelWriter{report, program, gpu, {}}.floor(work).seconds() * 1e6;
    if (const program::GpuCodeT *code = work.product ? nullptr : program.kernels[work.kernel]->gpu.get()) {
      item["scratch_bytes"] = code->scratchBytes;
      item["launches"] = nlohmann::json::array();
      for (auto &launch : code->launches)
        item["launches"].push_back(launchJson(*launch));
    }
    out[work.product ? "products" : "kernels"].push_back(std::move(item));
  }
  out["stages"] = nlohmann::json::array();
  for (const StageWork &stage : report.stages) {
    nlohmann::ordered_json runs = nlohmann::json::array();
    for (auto [index, times] : stage.times)
      runs.push_back({{"name", report.work[index].name}, {"times", times}});
    out["stages"].push_back({{"stages", stage.stages}, {"runs", runs}});
  }
  return out;
}
