// Programs that consist of a mesh and a state table, and checkpoints of them whose every element is its own number: so
// a test can say of each byte in a file where it belongs.
#ifndef HOCKET_TEST_RUNTIME_CHECKPOINT_SAVEDPROGRAM_H
#define HOCKET_TEST_RUNTIME_CHECKPOINT_SAVEDPROGRAM_H

#include "runtime/Checkpoint/Folder.h"
#include "runtime/Checkpoint/Layout.h"
#include "runtime/Program/ProgramFile.h"
#include <filesystem>

namespace hocket::checkpoint {

struct StateSpec {
  std::string name;
  std::vector<uint64_t> shape;
  std::vector<std::string> split = {}; // by dimension: "tp", "dp tp", or ""
  program::StateKind kind = program::StateKind::Parameter;
  program::DType type = program::DType::F32;
  std::vector<uint32_t> holders = {0};
};

// Owns the program file of a mesh like {{"pp", 2}, {"tp", 4}}; stages lie along "pp" where it is an axis.
class SavedProgram {
public:
  SavedProgram(std::vector<program::Mesh::Axis> axes, const std::vector<StateSpec> &states);
  const program::Program &get() const { return *program::GetProgram(file.data() + sizeof(program::FileHeader)); }

private:
  std::vector<uint8_t> file;
};

// Element i (row-major in the whole tensor) of f32 tensors is i; what the kinds of a name have differs by 0.5.
float elementOf(const Tensor &tensor, uint64_t index);

// Writes a checkpoint of the program as its ranks would. Fails the test where it cannot.
Found saveNumbers(const std::string &folder, const program::Program &program, uint64_t step = 7);

// The f32 numbers of one tensor in a file of a checkpoint, as they lie there.
std::vector<float> numbersIn(const Found &found, const std::string &file, const std::string &key);

// A folder that goes away with the test.
struct TestFolder {
  TestFolder();
  ~TestFolder();
  std::string path;
};

} // namespace hocket::checkpoint
#endif
