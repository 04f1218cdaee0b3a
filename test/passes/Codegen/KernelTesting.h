// Compiles kernels in process, runs them on random data, and compares with reference semantics. The cases
// (ElementTest.cpp, RowTest.cpp, …) are the same for every target: each has a Kernels::Machine of its own.
#pragma once
#include "dialect/NN/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <random>

namespace hocket::codegen::testing {
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

/// What runs kernels: a CPU (CPU/CpuMachine.cpp), a GPU's emulator (CUDA/EmulatedMachine.cpp).
class Machine {
public:
  virtual ~Machine() = default;
  /// Compiles the kernels of a module; null with a failure of the test. `march`: for which CPU, where that matters.
  static std::unique_ptr<Machine> compile(mlir::ModuleOp module, llvm::StringRef march);
  /// True if work is cut into pieces that may run in any order.
  virtual bool cutsWork() const = 0;
  virtual void run(mlir::func::FuncOp kernel, llvm::ArrayRef<HostBuffer *> buffers, llvm::ArrayRef<int64_t> numbers,
                   int pieces) = 0;
};

/// A module of kernels (text), compiled.
class Kernels {
public:
  explicit Kernels(const std::string &text, llvm::StringRef march = "native");
  ~Kernels();
  bool compiled() const { return machine != nullptr; }
  bool cutsWork() const { return machine->cutsWork(); }
  mlir::func::FuncOp function(llvm::StringRef name);
  /// Runs a kernel, cut into `pieces` calls where the machine does that, the last piece first. `inPlace`: pairs
  /// (result, operand) that share memory.
  std::vector<HostBuffer> run(llvm::StringRef name, const std::vector<HostBuffer> &inputs,
                              const std::vector<int64_t> &numbers = {}, int pieces = 1,
                              llvm::ArrayRef<int64_t> inPlace = {});
  /// By reference semantics, in f64; the result of every op is rounded to its element type, unless `exact`.
  std::vector<HostTensor> reference(llvm::StringRef name, const std::vector<HostBuffer> &inputs,
                                    const std::vector<int64_t> &numbers = {}, bool exact = false);

private:
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<Machine> machine;
};

/// What a kernel makes of tensors and numbers, in the order of each, by reference semantics; the result of every op is
/// rounded to its element type, unless `exact`.
std::vector<HostTensor> evaluateKernel(mlir::func::FuncOp kernel, const std::vector<HostTensor> &tensors,
                                       const std::vector<int64_t> &numbers = {}, bool exact = false);

/// |a - b| / |b| by Euclidean norms (|a - b| where b is 0); infinite if an element of a is not finite where that of b
/// is.
double relativeError(const HostTensor &a, const HostTensor &b);

/// True if each element of `a` is that of `b` or next to it in the element type, or closer than `absolute`.
bool nextTo(mlir::Type element, const HostTensor &a, const HostTensor &b, double absolute);
/// What a reduction of an element type may be away from its reference: half a unit in the last place of the result, and
/// a margin for sums of f32. 4e-3 for bf16, 5e-4 for f16, 1e-5 for f32.
double reductionTolerance(llvm::StringRef element);

struct Check {
  double tolerance = 1e-6;
  std::vector<int64_t> numbers = {};
  int64_t ids = 7;       ///< integers are drawn from [-1, ids)
  bool positive = false; ///< floats are drawn from (0, 1) instead of a normal distribution
  /// Instead of the tolerance of a whole result: each element is the reference's, rounded, or next to it, but for what
  /// f32 arithmetic on numbers around 1 cannot tell from zero.
  bool elementwise = false;
};
/// Compiles `text`, whose kernel is @k, and checks: near the reference, guards whole, the same bits for any cut of
/// tiles.
void checkKernel(const std::string &text, const Check &check = {});
std::vector<HostBuffer> randomInputs(mlir::func::FuncOp function, const Check &check);
/// "2x3xf32" of the sizes.
std::string tensor(llvm::ArrayRef<int64_t> shape, llvm::StringRef element = "f32");
} // namespace hocket::codegen::testing
