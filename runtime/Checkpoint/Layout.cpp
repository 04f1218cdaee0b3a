// Ownership of boxes; contracts in Layout.h.
#include "runtime/Checkpoint/Layout.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace hocket::checkpoint {

/// All axes that split a state tensor.
static std::vector<program::AxisRef> splitAxes(const program::State &state) {
  std::vector<program::AxisRef> result;
  for (uint32_t dim = 0; state.split() && dim < state.split()->size(); ++dim)
    for (const program::AxisRef &axis : program::axesOf(state.split()->Get(dim)->axes()))
      result.push_back(axis);
  return result;
}

static uint32_t firstRankOf(const program::Program &program, const program::Mesh &mesh, uint32_t stage) {
  std::vector<uint32_t> at(mesh.axes().size(), 0);
  if (program.stageAxis() >= 0)
    at[program.stageAxis()] = stage;
  return mesh.rank(at);
}

/// Pieces name ranks here; they become files when all are known.
static Tensor tensorOf(const program::Mesh &mesh, const program::State &state, uint32_t firstRank) {
  Tensor result{state.kind(), state.name()->str(), state.type(), {}, {}};
  if (state.shape())
    result.shape.assign(state.shape()->begin(), state.shape()->end());
  for (uint32_t rank : mesh.group(firstRank, splitAxes(state))) {
    Box box = program::box(mesh, rank, state);
    if (volume(box))
      result.pieces.push_back({rank, std::move(box)});
  }
  return result;
}

Index layoutOf(const program::Program &program) {
  program::Mesh mesh(program);
  Index result;
  result.model = program.name()->str();
  result.plan = program.plan()->str();
  result.recipe = program.recipe()->str();
  result.schedule = program.schedule() ? program.schedule()->str() : "";
  result.mesh = mesh.axes();
  result.globalBatch = program.globalBatch();
  result.sequence = program.sequence();
  result.vocabulary = program.vocabulary();
  result.microbatches = program.microbatches();
  result.parameters = program.parameters();
  for (const program::RankProgram *stage : *program.ranks())
    for (uint32_t i = 0; stage->state() && i < stage->state()->size(); ++i) {
      const program::State &state = *stage->state()->Get(i);
      if (state.holders()->Get(0) == stage->stage())
        result.tensors.push_back(tensorOf(mesh, state, firstRankOf(program, mesh, stage->stage())));
    }
  std::map<uint32_t, uint32_t> fileOfRank;
  for (const Tensor &tensor : result.tensors)
    for (const Piece &piece : tensor.pieces)
      fileOfRank.emplace(piece.file, 0);
  for (auto &[rank, file] : fileOfRank) {
    file = static_cast<uint32_t>(result.files.size());
    result.files.push_back({fmt::format("rank-{}.safetensors", rank), rank, 0, 0});
  }
  for (Tensor &tensor : result.tensors)
    for (Piece &piece : tensor.pieces)
      piece.file = fileOfRank.at(piece.file);
  return result;
}

std::optional<uint32_t> fileOf(const Index &layout, uint32_t rank) {
  for (uint32_t file = 0; file < layout.files.size(); ++file)
    if (layout.files[file].rank == rank)
      return file;
  return {};
}

std::vector<Part> partsOf(const Index &layout, uint32_t file) {
  std::vector<Part> result;
  for (uint32_t tensor = 0; tensor < layout.tensors.size(); ++tensor)
    for (uint32_t piece = 0; piece < layout.tensors[tensor].pieces.size(); ++piece)
      if (layout.tensors[tensor].pieces[piece].file == file)
        result.push_back({tensor, piece});
  auto order = [&](const Part &part) {
    return std::tuple(-static_cast<int64_t>(program::sizeOf(layout.tensors[part.tensor].type)), part.tensor,
                      part.piece);
  };
  std::sort(result.begin(), result.end(), [&](const Part &a, const Part &b) { return order(a) < order(b); });
  return result;
}

static uint64_t bytesOf(const Tensor &tensor, const Piece &piece) {
  return program::sizeOf(tensor.type) * volume(piece.box);
}

uint64_t dataBytes(const Index &layout, const std::vector<Part> &parts) {
  uint64_t result = 0;
  for (const Part &part : parts)
    result += bytesOf(layout.tensors[part.tensor], layout.tensors[part.tensor].pieces[part.piece]);
  return result;
}

uint64_t dataBytes(const Index &layout) {
  uint64_t result = 0;
  for (const Tensor &tensor : layout.tensors)
    for (const Piece &piece : tensor.pieces)
      result += bytesOf(tensor, piece);
  return result;
}

} // namespace hocket::checkpoint
