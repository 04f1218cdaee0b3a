// Checkpoints as text and JSON.
#include "tools/hocket/CheckpointReport.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>
using namespace hocket;
using checkpoint::Found;
using checkpoint::Index;
using checkpoint::Tensor;

static std::string boxesText(const Index &index, const Tensor &tensor) {
  constexpr size_t most = 4;
  std::string result;
  for (size_t i = 0; i < tensor.pieces.size() && i < most; ++i)
    result += fmt::format("{}{} rank {}", i ? ", " : "", checkpoint::text(tensor.pieces[i].box),
                          index.files[tensor.pieces[i].file].rank);
  if (tensor.pieces.size() > most)
    result += fmt::format(", … {} boxes in all", tensor.pieces.size());
  return result;
}

static std::string meshText(const Index &index) {
  std::string result;
  for (const auto &axis : index.mesh)
    result += fmt::format("{}{}={}", result.empty() ? "" : " ", axis.name, axis.size);
  return result;
}

static std::string headText(const Found &found, bool verified) {
  const Index &index = found.index;
  std::string result =
      fmt::format("'{}' is {}{}\n", found.folder, found.faults.empty() ? "whole" : "damaged",
                  verified ? "" : ": files and headers; --verify compares the contents with their checksums");
  if (index.files.empty())
    return result;
  result += fmt::format("step {}, {} samples read, seed {}\n", index.step, index.samples, index.seed);
  result += fmt::format("model {} ({} parameters), plan {} on {}\n", index.model, index.parameters, index.plan,
                        meshText(index));
  result += fmt::format("data '{}': {} bytes of {}\n", index.data.path, index.data.bytes, index.data.type);
  return result +
         fmt::format("{} tensors in {} files, {} bytes\n", index.tensors.size(), index.files.size(), index.bytes());
}

std::string tools::checkpointsText(const std::vector<Found> &found, bool verified) {
  std::string result = headText(found[0], verified);
  size_t nameWidth = 4;
  for (const Tensor &tensor : found[0].index.tensors)
    nameWidth = std::max(nameWidth, tensor.name.size());
  for (const Tensor &tensor : found[0].index.tensors)
    result += fmt::format("  {:<14}{:<{}}  {:<5}{:<18}{}\n", checkpoint::kindName(tensor.kind), tensor.name, nameWidth,
                          program::EnumNameDType(tensor.type), checkpoint::shapeText(tensor.shape),
                          boxesText(found[0].index, tensor));
  for (size_t i = 1; i < found.size(); ++i)
    result += fmt::format("'{}' is {}\n", found[i].folder, found[i].faults.empty() ? "whole" : "damaged");
  return result;
}

std::string tools::checkpointsJson(const std::vector<Found> &found) {
  nlohmann::json all = nlohmann::json::array();
  for (const Found &one : found) {
    nlohmann::json shown{{"folder", one.folder}, {"whole", one.faults.empty()}, {"faults", one.faults}};
    if (!one.index.files.empty())
      shown.update(nlohmann::json::parse(checkpoint::indexText(one.index)));
    all.push_back(std::move(shown));
  }
  return nlohmann::json{{"checkpoints", std::move(all)}}.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}
