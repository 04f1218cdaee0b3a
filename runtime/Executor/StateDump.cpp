// Files of one rank's state; format in StateDump.h.
#include "runtime/Executor/StateDump.h"
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace hocket::runtime {

static nlohmann::json describe(const RankContext &context, const program::State &state, uint64_t offset,
                               uint64_t bytes) {
  nlohmann::json box = nlohmann::json::array(), shape = nlohmann::json::array();
  for (const program::Range &range : program::box(context.mesh, context.rank, state))
    box.push_back({range.begin, range.end});
  for (uint32_t i = 0; state.shape() && i < state.shape()->size(); ++i)
    shape.push_back(state.shape()->Get(i));
  return {{"name", state.name()->str()},
          {"kind", EnumNameStateKind(state.kind())},
          {"type", EnumNameDType(state.type())},
          {"shape", shape},
          {"box", box},
          {"padded", program::paddedShape(state)},
          {"offset", offset},
          {"bytes", bytes}};
}

Status dumpState(const RankContext &context, const std::string &directory, uint64_t step) {
  std::string name = fmt::format("step{}.rank{}", step, context.rank);
  std::ofstream data(directory + "/" + name + ".bin", std::ios::binary);
  nlohmann::json index{{"step", step},
                       {"rank", context.rank},
                       {"coordinates", context.mesh.text(context.rank)},
                       {"stage", context.own.stage()},
                       {"file", name + ".bin"},
                       {"tensors", nlohmann::json::array()}};
  uint64_t offset = 0;
  for (uint32_t i = 0; context.own.state() && i < context.own.state()->size(); ++i) {
    const program::State &state = *context.own.state()->Get(i);
    uint64_t bytes = program::sizeOf(state.type());
    for (uint64_t extent : program::paddedShape(state))
      bytes *= extent;
    Result<DeviceMemory::Reading> read = context.memory->read(context.address(*state.buffer(), 0, 0), bytes);
    if (!read)
      return std::move(read.error());
    data.write(reinterpret_cast<const char *>(read->data()), static_cast<std::streamsize>(bytes));
    index["tensors"].push_back(describe(context, state, offset, bytes));
    offset += bytes;
  }
  data.close();
  std::ofstream text(directory + "/" + name + ".json");
  text << index.dump(1) << "\n";
  text.close();
  if (data && text)
    return {};
  return Error{ErrorKind::Invalid,
               fmt::format("cannot write the state to '{}/{}.*': {}", directory, name, std::strerror(errno)),
               {}};
}

} // namespace hocket::runtime
