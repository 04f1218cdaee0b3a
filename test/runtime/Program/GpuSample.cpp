// See GpuSample.h.
#include "GpuSample.h"
#include "runtime/Program/IssueOrder.h"

namespace hocket::sample {

using namespace hocket::program;

static std::unique_ptr<GpuCodeT> code(const std::string &symbol) {
  auto result = std::make_unique<GpuCodeT>();
  for (const char *suffix : {"_0", "_1"}) {
    result->launches.push_back(std::make_unique<GpuLaunchT>());
    result->launches.back()->symbol = symbol + suffix;
    result->launches.back()->shape = std::make_unique<GpuShape>(2, 1, 1, 128, 1, 1, 1024);
    result->launches.back()->figures = {GpuFigures(80, 32, 64, 0, 0), GpuFigures(90, 40, 64, 16, 8)};
  }
  result->scratchBytes = 512;
  result->bitcode = {'B', 'C', 0xc0, 0xde};
  result->ptx = ".version 8.0";
  for (uint32_t architecture : {80, 90}) {
    result->cubins.push_back(std::make_unique<CubinT>());
    result->cubins.back()->architecture = architecture;
    result->cubins.back()->code = {0x7f, 'E', 'L', 'F'};
  }
  return result;
}

ProgramT cudaSample() {
  ProgramT program = sampleProgram();
  program.target = "cuda";
  for (auto &kernel : program.kernels)
    kernel->gpu = code(kernel->symbol);
  for (auto &rank : program.ranks) {
    rank->scratchOffset = (rank->arenaBytes + 255) / 256 * 256;
    rank->scratchBytes = 512;
    rank->productsOffset = rank->scratchOffset + 512;
    rank->productsBytes = 1024;
    rank->arenaBytes = rank->productsOffset + 1024;
  }
  orderRows(program);
  return program;
}

bool orderRows(ProgramT &program) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Program::Pack(builder, &program));
  auto orders = issueOrders(*flatbuffers::GetRoot<Program>(builder.GetBufferPointer()), trainEntry);
  for (size_t stage = 0; orders && stage < orders->size(); ++stage) {
    std::vector<Row> rows;
    for (uint32_t row : (*orders)[stage])
      rows.push_back(program.ranks[stage]->entries[0]->rows[row]);
    program.ranks[stage]->entries[0]->rows = std::move(rows);
  }
  return orders.has_value();
}

std::vector<std::string> faultsOf(const ProgramT &program) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Program::Pack(builder, &program));
  return check(*flatbuffers::GetRoot<Program>(builder.GetBufferPointer()));
}

} // namespace hocket::sample
