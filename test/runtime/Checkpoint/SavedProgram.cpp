// See SavedProgram.h.
#include "SavedProgram.h"
#include "runtime/Checkpoint/Shard.h"
#include <gtest/gtest.h>
#include <sstream>

namespace hocket::checkpoint {

static std::vector<program::AxisRef> axesNamed(const std::vector<program::Mesh::Axis> &axes, const std::string &words) {
  std::vector<program::AxisRef> result;
  std::istringstream from(words);
  for (std::string word; from >> word;)
    for (uint32_t i = 0; i < axes.size(); ++i)
      if (axes[i].name == word)
        result.push_back(program::AxisRef(i, 1, axes[i].size));
  return result;
}

static std::unique_ptr<program::StateT> stateOf(const std::vector<program::Mesh::Axis> &axes, const StateSpec &spec) {
  auto state = std::make_unique<program::StateT>();
  state->name = spec.name;
  state->kind = spec.kind;
  state->type = spec.type;
  state->shape = spec.shape;
  state->holders = spec.holders;
  for (size_t dim = 0; dim < spec.shape.size(); ++dim) {
    state->split.push_back(std::make_unique<program::DimSplitT>());
    if (dim < spec.split.size())
      state->split.back()->axes = axesNamed(axes, spec.split[dim]);
  }
  return state;
}

SavedProgram::SavedProgram(std::vector<program::Mesh::Axis> axes, const std::vector<StateSpec> &states) {
  program::ProgramT program;
  program.name = "model";
  program.plan = "plan";
  program.recipe = "recipe";
  program.globalBatch = 4;
  program.sequence = 8;
  program.stageAxis = -1;
  uint32_t stages = 1;
  for (uint32_t i = 0; i < axes.size(); ++i) {
    program.axes.push_back(std::make_unique<program::AxisT>());
    program.axes.back()->name = axes[i].name;
    program.axes.back()->size = axes[i].size;
    if (axes[i].name == "pp")
      program.stageAxis = static_cast<int>(i), stages = axes[i].size;
  }
  for (uint32_t stage = 0; stage < stages; ++stage) {
    program.ranks.push_back(std::make_unique<program::RankProgramT>());
    program.ranks.back()->stage = stage;
    for (const StateSpec &spec : states)
      if (std::count(spec.holders.begin(), spec.holders.end(), stage))
        program.ranks.back()->state.push_back(stateOf(axes, spec));
  }
  file = program::write(program);
}

float elementOf(const Tensor &tensor, uint64_t index) {
  return static_cast<float>(index) + 0.5f * static_cast<float>(tensor.kind);
}

Found saveNumbers(const std::string &folder, const program::Program &program, uint64_t step) {
  Index index = layoutOf(program);
  index.step = step;
  index.samples = step * program.globalBatch();
  index.seed = 42;
  index.data = {"tokens", "u8", 100, 5};
  auto fill = [](const Tensor &tensor, const Box &box, std::span<std::byte> to) -> runtime::Status {
    std::vector<float> whole(volume(wholeBox(tensor.shape)));
    for (uint64_t i = 0; i < whole.size(); ++i)
      whole[i] = elementOf(tensor, i);
    copyBox(box, denseView(wholeBox(tensor.shape), program::DType::F32),
            reinterpret_cast<const std::byte *>(whole.data()), denseView(box, tensor.type), to.data());
    return {};
  };
  EXPECT_TRUE(makeFolders(folder));
  EXPECT_TRUE(beginPartial(folder, step));
  for (uint32_t file = 0; file < index.files.size(); ++file) {
    auto written = writeShard(partialFolder(folder, step), index, file, fill, {});
    EXPECT_TRUE(written) << written.error().message;
    EXPECT_EQ(written->bytes, shardBytes(index, file));
    index.files[file] = *written;
  }
  EXPECT_TRUE(commit(folder, index, 2));
  Found found = openCheckpoint(stepFolder(folder, step));
  EXPECT_TRUE(found.faults.empty()) << found.faults.front();
  return found;
}

std::vector<float> numbersIn(const Found &found, const std::string &file, const std::string &key) {
  auto mapped = MappedFile::open(found.folder + "/" + file);
  if (!mapped)
    return {};
  std::span<const uint8_t> bytes = (*mapped)->bytes();
  ParsedHeader parsed = parseHeader(bytes, bytes.size());
  const TensorEntry *entry = parsed.header.find(key);
  if (!entry)
    return {};
  std::vector<float> result((entry->end - entry->begin) / sizeof(float));
  std::memcpy(result.data(), bytes.data() + parsed.header.dataOffset + entry->begin, entry->end - entry->begin);
  return result;
}

TestFolder::TestFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "hocket-checkpoint-XXXXXX";
  path = ::mkdtemp(pattern.data());
}

TestFolder::~TestFolder() { std::filesystem::remove_all(path); }

} // namespace hocket::checkpoint
