// Runs kernels that were written down (test/passes/Codegen/CUDA/RecordingMachine.h has the form) on GPU 0 of this
// machine, or with HOCKET_TEST_DEVICE=emulator there, and compares what they make of their buffers with what the
// emulator made, which the tests that wrote it compared with the reference. Needs no compiler.
//   replay-kernels FOLDER… exit status 0: all are right; 1: some are not (named); 4: this machine lacks something
#include "runtime/Comm/Half.h"
#include "runtime/Device/Cuda/CudaDevice.h"
#include "runtime/Device/OpenEmulator.h"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

using namespace hocket::runtime;
using nlohmann::json;

namespace {
// Twice what a result may be away from its reference: the emulator's may be, and the GPU's.
double tolerance(const std::string &type) {
  return type == "bf16" ? 8e-3 : type == "f16" ? 1e-3 : type == "f64" ? 1e-12 : 2e-5;
}

struct Buffer {
  std::string type;
  size_t elements, bytes, same;
  std::string before, after;
  void *device = nullptr;
};
struct Case {
  std::string name;
  json header;
  std::vector<std::pair<int, std::string>> code;
  std::vector<Buffer> buffers;
};

double element(const std::string &type, const char *at) {
  auto as = [at](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  if (type == "f32")
    return as(float());
  if (type == "f64")
    return as(double());
  if (type == "bf16")
    return toFloat(as(BFloat16()));
  return toFloat(as(Float16()));
}

bool isFloat(const std::string &type) { return type == "f32" || type == "f64" || type == "bf16" || type == "f16"; }

// |got - wanted| / |wanted| by Euclidean norms (|got - wanted| where wanted is 0); infinite where one is finite and the
// other is not, where integers differ, or where a guard was written.
double difference(const Buffer &buffer, const std::string &got) {
  size_t size = isFloat(buffer.type) ? (buffer.type == "f32" ? 4 : buffer.type == "f64" ? 8 : 2) : 0;
  size_t data = size * buffer.elements;
  if (got.compare(data, std::string::npos, buffer.after, data, std::string::npos) != 0)
    return HUGE_VAL;
  double apart = 0, whole = 0;
  for (size_t i = 0; i < data; i += size) {
    double is = element(buffer.type, got.data() + i), should = element(buffer.type, buffer.after.data() + i);
    if (is == should || (std::isnan(is) && std::isnan(should)))
      is = should = std::isfinite(should) ? should : 0;
    if (!std::isfinite(is) || !std::isfinite(should))
      return HUGE_VAL;
    apart += (is - should) * (is - should);
    whole += should * should;
  }
  return whole > 0 ? std::sqrt(apart / whole) : std::sqrt(apart);
}

Case readCase(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::getline(file, line);
  Case result;
  result.header = json::parse(line);
  result.name = fmt::format("{} {} ({})", result.header["test"].get<std::string>(),
                            result.header["kernel"].get<std::string>(), path.filename().string());
  auto take = [&file](size_t bytes) {
    std::string data(bytes, '\0');
    file.read(data.data(), static_cast<std::streamsize>(bytes));
    return data;
  };
  for (const json &code : result.header["code"])
    result.code.emplace_back(code["architecture"].get<int>(), take(code["bytes"].get<size_t>()));
  for (const json &buffer : result.header["buffers"])
    result.buffers.push_back({buffer["type"], buffer["elements"], buffer["bytes"], buffer["same"], {}, {}});
  for (auto contents : {&Buffer::before, &Buffer::after})
    for (size_t i = 0; i < result.buffers.size(); ++i)
      if (result.buffers[i].same == i)
        result.buffers[i].*contents = take(result.buffers[i].bytes);
  if (!file)
    throw std::runtime_error("the file is cut off");
  return result;
}

class Replay {
public:
  explicit Replay(Device &device) : device(device), stream(*device.stream()) {}
  std::map<std::string, double> worst; // by type

  // What is wrong; empty: nothing.
  std::string run(Case &one) {
    Status ran = queue(one);
    std::vector<std::string> got(one.buffers.size());
    for (size_t i = 0; ran && i < one.buffers.size(); ++i)
      if (Buffer &buffer = one.buffers[i]; buffer.same == i) {
        got[i].resize(buffer.bytes);
        ran = device.copy(*stream, got[i].data(), buffer.device, buffer.bytes);
      }
    if (ran)
      ran = device.synchronize(*stream);
    for (Buffer &buffer : one.buffers)
      if (buffer.device)
        device.free(buffer.device);
    if (!ran)
      return ran.error().message;
    std::string wrong;
    for (size_t i = 0; i < one.buffers.size(); ++i)
      if (const Buffer &buffer = one.buffers[i]; buffer.same == i) {
        double apart = difference(buffer, got[i]);
        worst[buffer.type] = std::max(worst[buffer.type], apart);
        if (!(apart <= tolerance(buffer.type)))
          wrong += fmt::format("{}buffer {} ({}) differs by {:.1e}", wrong.empty() ? "" : ", ", i, buffer.type, apart);
      }
    return wrong;
  }

private:
  Status queue(Case &one) {
    std::vector<void *> pointers;
    for (size_t i = 0; i < one.buffers.size(); ++i) {
      Buffer &buffer = one.buffers[i];
      if (buffer.same == i) {
        Result<void *> made = device.allocate(buffer.bytes);
        if (!made)
          return std::move(made.error());
        buffer.device = *made;
        if (Status copied = device.copy(*stream, buffer.device, buffer.before.data(), buffer.bytes); !copied)
          return copied;
      }
      pointers.push_back(one.buffers[buffer.same].device);
    }
    KernelCode code;
    for (auto &[architecture, bytes] : one.code)
      if (architecture > 0)
        code.cubins.emplace_back(architecture, bytes);
      else
        (architecture ? code.bitcode : code.ptx) = bytes;
    auto numbers = one.header["numbers"].get<std::vector<int64_t>>();
    void *scratch = scratchOf(one.header["scratchBytes"].get<size_t>());
    for (const json &launch : one.header["launches"]) {
      Result<const void *> function = device.kernel(device.loadable(code), launch["symbol"].get<std::string>());
      if (!function)
        return std::move(function.error());
      GpuShape shape{launch["grid"], launch["block"], launch["sharedBytes"]};
      if (Status launched = device.launch(*stream, {*function, pointers, numbers, 1, shape, scratch}); !launched)
        return launched;
    }
    return {};
  }

  // Grows, and is never given back; what it holds nobody promises.
  void *scratchOf(size_t bytes) {
    if (bytes > scratchBytes) {
      Result<void *> made = device.allocate(bytes);
      scratch = made ? *made : nullptr;
      scratchBytes = bytes;
    }
    return bytes ? scratch : nullptr;
  }

  Device &device;
  std::unique_ptr<Stream> stream;
  void *scratch = nullptr;
  size_t scratchBytes = 0;
};
} // namespace

static Result<std::unique_ptr<Device>> openDevice() {
  const char *named = std::getenv("HOCKET_TEST_DEVICE");
  if (named && std::string_view(named) == "emulator")
    return openEmulatorDevice(0, true);
  Result<std::unique_ptr<cuda::CudaDevice>> gpu = cuda::CudaDevice::open(0);
  if (!gpu)
    return std::move(gpu.error());
  return std::unique_ptr<Device>(std::move(*gpu));
}

int main(int argc, char **argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i)
    for (const auto &entry : std::filesystem::directory_iterator(argv[i]))
      if (entry.path().extension() == ".case")
        files.push_back(entry.path());
  std::ranges::sort(files);
  Result<std::unique_ptr<Device>> device = openDevice();
  if (!device)
    return fmt::print("replay-kernels: {}\n", device.error().message), 4;
  Replay replay(**device);
  size_t failed = 0;
  for (const std::filesystem::path &file : files) {
    std::string name = file.filename().string(), wrong;
    try {
      Case one = readCase(file);
      name = one.name;
      wrong = replay.run(one);
    } catch (const std::exception &fault) {
      wrong = fault.what();
    }
    failed += !wrong.empty();
    if (!wrong.empty())
      fmt::print("FAILED {}: {}\n", name, wrong);
  }
  fmt::print("{} of {} kernel runs are as recorded", files.size() - failed, files.size());
  for (auto &[type, apart] : replay.worst)
    fmt::print("{} {} {:.1e}", type == replay.worst.begin()->first ? "; they differ by at most" : ",", type, apart);
  fmt::print("\n");
  return failed || files.empty() ? 1 : 0;
}
