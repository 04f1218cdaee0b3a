// bench-gemm: the matrix products of one step of an executable made by `hocket compile`, without the step. tools/bench
// runs it in turn with hocket-run. Prints one JSON document:
//   {"products": N, "product_flops": F, "kernel_flops": F, "peak_flops_per_second": P,
//    "vendor_seconds": [s, …], "pool_seconds": [s, …]}
// Exit status as of all our tools: 0 done, 1 the input is at fault, 2 the command line, 4 this machine lacks something.
#include "runtime/Program/Executable.h"
#include "runtime/Program/Mesh.h"
#include "tools/bench-gemm/Peak.h"
#include "tools/bench-gemm/Products.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace hocket;

namespace {
struct Options {
  std::string executable;
  int repeats = 3, threads = 2;
};

int complain(const std::string &message, int status) {
  fmt::print(stderr, "error: {}\n", message);
  return status;
}

int measure(const Options &options) {
  runtime::Result<program::ExecutableProgram> opened = program::readExecutable(options.executable);
  if (!opened)
    return complain(opened.error().message, 1);
  const program::Program &program = *opened->program;
  bench::Work work = bench::workOf(program, 0);
  if (work.products.empty())
    return complain(fmt::format("{}: rank 0 has no matrix product", options.executable), 1);
  uint64_t arenaBytes = program.ranks()->Get(program::stageOf(program::Mesh(program), program, 0))->arenaBytes();
  bench::Operands operands;
  if (std::string missing = operands.create(work, arenaBytes); !missing.empty())
    return complain(missing, 4);
  runtime::ThreadPool pool(options.threads);
  double peak = 0;
  std::vector<double> vendor, ours;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    for (int loop = 0; loop < 3; ++loop) // a neighbour can only lower it
      peak = std::max(peak, bench::flopsPerSecond(options.threads));
    vendor.push_back(operands.vendor(work, options.threads));
    ours.push_back(operands.ours(work, pool));
    if (vendor.back() < 0 || ours.back() < 0)
      return complain(fmt::format("{}: oneDNN refuses a product", options.executable), 1);
  }
  fmt::print("{}\n", nlohmann::json{{"products", work.products.size()},
                                    {"product_flops", work.productFlops},
                                    {"kernel_flops", work.kernelFlops},
                                    {"peak_flops_per_second", peak},
                                    {"vendor_seconds", vendor},
                                    {"pool_seconds", ours}}
                         .dump());
  return 0;
}
} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app{
      "Times the matrix products of one training step of rank 0 alone: in oneDNN with its own threads, and as the "
      "runtime splits them",
      "bench-gemm"};
  app.add_option("OUT", options.executable, "executable made by hocket compile")->required();
  app.add_option("--repeats", options.repeats, "passes over all products")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--threads", options.threads, "threads")->check(CLI::PositiveNumber)->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return measure(options);
}
