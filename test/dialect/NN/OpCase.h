// One op (or a few) of the nn dialect with operands to run it on: what the tests of gradients, factors and meaning
// share.
#pragma once
#include "dialect/NN/NN.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "gtest/gtest.h"
#include <ostream>
#include <random>

namespace hocket::nn::test {
/// What integer arguments of a case hold.
struct Integers {
  int64_t low = 0, high = 0; ///< random in [low, high); equal: 0, 1, 2, … along the last dimension, plus `low`
};
struct OpCase {
  std::string name;
  std::string arguments; ///< "%x: tensor<2x3xf32>, …"
  std::string body;      ///< the op, and where it needs them others before it; the last one is the op under test
  Integers integers = {};
  bool positive = false; ///< floats are positive (second moments)
};
inline std::ostream &operator<<(std::ostream &out, const OpCase &each) { return out << each.name; }
const std::vector<OpCase> &allCases();
std::vector<OpCase> regions(); ///< those of dist.local
inline std::string caseName(const testing::TestParamInfo<OpCase> &info) { return info.param.name; }

using Values = llvm::DenseMap<mlir::Value, HostTensor>;

/// A context with the dialects that bodies use.
mlir::MLIRContext &context();

/// A parsed case. Parsing and verifying must succeed; if not, the test fails and `sound()` is false.
class Program {
public:
  explicit Program(const OpCase &each);
  bool sound() const { return module && block; }
  mlir::Block &body() { return *block; }
  mlir::Operation &op() { return *std::prev(block->end(), 2); } ///< the one under test
  /// The same every time for one case.
  std::vector<HostTensor> randomArguments() const;
  /// Gives the block's first arguments these values and runs every op.
  Values run(const std::vector<HostTensor> &arguments);
  mlir::LogicalResult verify() { return module->verify(); }

private:
  OpCase each;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Block *block = nullptr;
};

/// The op's results for these operands; every element is set.
std::vector<HostTensor> evaluate(mlir::Operation &op, llvm::ArrayRef<HostTensor> operands,
                                 llvm::ArrayRef<llvm::SmallVector<int64_t>> resultShapes);
llvm::SmallVector<llvm::SmallVector<int64_t>> resultShapes(mlir::Operation &op);

bool isFloat(mlir::Value value);
HostTensor randomNormal(llvm::ArrayRef<int64_t> shape, std::mt19937_64 &random);
/// Largest |a - b| over the largest |b| (at least 1e-3); infinite if shapes differ or either has a NaN.
double relativeDifference(const HostTensor &a, const HostTensor &b);
} // namespace hocket::nn::test
