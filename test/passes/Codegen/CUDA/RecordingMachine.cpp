// See RecordingMachine.h.
#include "RecordingMachine.h"
#include "passes/Codegen/CUDA/Kernels.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <unistd.h>
using namespace mlir;

namespace hocket::codegen::testing {
namespace {
constexpr size_t mostBytes = 512 << 10; // of a run's buffers

struct Code {
  int64_t architecture; ///< 90 of a cubin for sm_90, 0 of PTX, -1 of bitcode
  std::string bytes;
};

std::string typeName(Type element) {
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

class RecordingMachine : public Machine {
public:
  RecordingMachine(std::unique_ptr<Machine> over, std::string folder)
      : over(std::move(over)), folder(std::move(folder)) {}

  bool add(ModuleOp kernel, const cuda::Toolkit &toolkit) {
    auto bitcode = cuda::translateKernel(kernel, toolkit);
    if (!bitcode)
      return failed(bitcode.takeError());
    std::vector<Code> &pieces = code[kernel.getSymName()->str()];
    auto ptx = cuda::emitPtx(*bitcode, cuda::architectures[0]);
    if (!ptx)
      return failed(ptx.takeError());
    pieces.push_back({-1, *bitcode});
    pieces.push_back({0, *ptx});
    for (llvm::StringRef architecture : cuda::architectures) {
      if (toolkit.ptxas.empty())
        continue;
      auto text = cuda::emitPtx(*bitcode, architecture);
      if (!text)
        return failed(text.takeError());
      auto cubin = cuda::assemble(*text, architecture, toolkit);
      if (!cubin)
        return failed(cubin.takeError());
      int64_t number = 0;
      architecture.drop_front(3).getAsInteger(10, number);
      pieces.push_back({number, std::string(cubin->bytes.begin(), cubin->bytes.end())});
    }
    return true;
  }

  bool cutsWork() const override { return over->cutsWork(); }

  void run(func::FuncOp kernel, ArrayRef<HostBuffer *> buffers, ArrayRef<int64_t> numbers, int pieces) override {
    std::string before = contents(buffers);
    over->run(kernel, buffers, numbers, pieces);
    if (before.size() > mostBytes)
      return;
    std::string path = folder + "/" + std::to_string(getpid()) + "-" + std::to_string(count++) + ".case";
    std::error_code fault;
    llvm::raw_fd_ostream file(path, fault);
    ASSERT_FALSE(fault) << path << ": " << fault.message();
    file << llvm::json::Value(header(kernel, buffers, numbers)) << "\n";
    for (const Code &piece : code.at(kernel.getSymName().str()))
      file << piece.bytes;
    file << before << contents(buffers);
  }

private:
  static inline int count = 0; // of this process

  static bool failed(llvm::Error error) {
    ADD_FAILURE() << llvm::toString(std::move(error));
    return false;
  }

  static size_t placeOf(ArrayRef<HostBuffer *> buffers, HostBuffer *buffer) {
    return static_cast<size_t>(llvm::find(buffers, buffer) - buffers.begin());
  }
  static std::string contents(ArrayRef<HostBuffer *> buffers) {
    std::string all;
    for (auto [i, buffer] : llvm::enumerate(buffers))
      if (placeOf(buffers, buffer) == i)
        all.append(buffer->bytes.begin(), buffer->bytes.end());
    return all;
  }

  llvm::json::Object header(func::FuncOp kernel, ArrayRef<HostBuffer *> buffers, ArrayRef<int64_t> numbers) const {
    const auto *test = ::testing::UnitTest::GetInstance()->current_test_info();
    llvm::json::Array launches, arguments, scalars(numbers), pieces;
    for (const cuda::Launch &launch : cuda::launchesOf(kernel))
      launches.push_back(llvm::json::Object{{"symbol", launch.symbol},
                                            {"grid", llvm::json::Array(launch.grid)},
                                            {"block", llvm::json::Array(launch.block)},
                                            {"sharedBytes", launch.sharedBytes}});
    for (HostBuffer *buffer : buffers)
      arguments.push_back(llvm::json::Object{{"type", typeName(buffer->type.getElementType())},
                                             {"elements", buffer->type.getNumElements()},
                                             {"bytes", static_cast<int64_t>(buffer->bytes.size())},
                                             {"same", static_cast<int64_t>(placeOf(buffers, buffer))}});
    for (const Code &piece : code.at(kernel.getSymName().str()))
      pieces.push_back(llvm::json::Object{{"architecture", piece.architecture},
                                          {"bytes", static_cast<int64_t>(piece.bytes.size())}});
    return llvm::json::Object{{"test", test ? std::string(test->test_suite_name()) + "." + test->name() : ""},
                              {"kernel", kernel.getSymName().str()},
                              {"launches", std::move(launches)},
                              {"numbers", std::move(scalars)},
                              {"scratchBytes", cuda::scratchBytesOf(kernel)},
                              {"buffers", std::move(arguments)},
                              {"code", std::move(pieces)}};
  }

  std::unique_ptr<Machine> over;
  std::string folder;
  std::map<std::string, std::vector<Code>> code; // by kernel
};
} // namespace

std::unique_ptr<Machine> recordKernels(std::unique_ptr<Machine> over, const std::string &folder, ModuleOp kernels,
                                       const cuda::Toolkit &toolkit) {
  auto machine = std::make_unique<RecordingMachine>(std::move(over), folder);
  for (ModuleOp kernel : kernels.getOps<ModuleOp>())
    if (!machine->add(kernel, toolkit))
      return nullptr;
  return machine;
}
} // namespace hocket::codegen::testing
