// Compiles kernels in process, runs them on random data in any cut of their tiles, and compares with reference
// semantics.
#pragma once
#include "dialect/NN/HostTensor.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Codegen/CPU/Kernels.h"
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <random>

namespace llvm::orc {
class LLJIT;
}

namespace hocket::cpu::testing {
using nn::HostTensor;

/// A tensor in memory as a kernel sees it. What follows its last byte is a guard that must stay as it is.
struct HostBuffer {
  mlir::RankedTensorType type;
  std::vector<uint8_t> bytes;
  explicit HostBuffer(mlir::RankedTensorType type);
  HostBuffer(mlir::RankedTensorType type, const HostTensor &values);
  HostTensor values() const;
  bool guardHolds() const;
  bool operator==(const HostBuffer &other) const { return bytes == other.bytes; }
};

/// A module of kernels (text), compiled.
class Kernels {
public:
  explicit Kernels(const std::string &text);
  ~Kernels();
  bool compiled() const { return jit != nullptr; }
  mlir::func::FuncOp function(llvm::StringRef name);
  int64_t tiles(llvm::StringRef name);
  /// Runs tiles [0, n) cut into `pieces` calls, the last piece first. `inPlace`: pairs (result, operand) that share
  /// memory.
  std::vector<HostBuffer> run(llvm::StringRef name, const std::vector<HostBuffer> &inputs,
                              const std::vector<int64_t> &numbers = {}, int pieces = 1,
                              llvm::ArrayRef<int64_t> inPlace = {});
  std::vector<HostTensor> reference(llvm::StringRef name, const std::vector<HostBuffer> &inputs,
                                    const std::vector<int64_t> &numbers = {});

private:
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

/// |a - b| / |b| by Euclidean norms (|a - b| where b is 0); infinite if an element of a is not finite where that of b
/// is.
double relativeError(const HostTensor &a, const HostTensor &b);

struct Check {
  double tolerance = 1e-6;
  std::vector<int64_t> numbers = {};
  int64_t ids = 7;       ///< integers are drawn from [-1, ids)
  bool positive = false; ///< floats are drawn from (0, 1) instead of a normal distribution
};
/// Compiles `text`, whose kernel is @k, and checks: near the reference, guards whole, the same bits for any cut of
/// tiles.
void checkKernel(const std::string &text, const Check &check = {});
std::vector<HostBuffer> randomInputs(mlir::func::FuncOp function, const Check &check);
/// "2x3xf32" of the sizes.
std::string tensor(llvm::ArrayRef<int64_t> shape, llvm::StringRef element = "f32");
} // namespace hocket::cpu::testing
