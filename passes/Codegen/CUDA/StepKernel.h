// Writes the GPU kernels of one step kernel: what is common to all emitters.
#pragma once
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Codegen/CUDA/Kernels.h"
#include <map>
#include <memory>
#include <optional>

namespace hocket::cuda {
/// One GPU kernel while it is written.
class GpuFrame {
public:
  /// Of a function argument that is a tensor: a pointer to global memory (address space 1).
  mlir::Value buffer(mlir::Value argument) const { return tensors.lookup(argument); }
  /// Of a returned value; null if it is not returned.
  mlir::Value result(mlir::Value returned) const;
  /// Of a function argument that is a number: i64.
  mlir::Value number(mlir::Value argument) const { return numbers.lookup(argument); }
  /// What the first element at a pointer is known to be aligned to, in bytes: 16. Integers are ids, positions and draws of a
  /// microbatch, which follow those of the one before without a gap: known is what divides a tensor of them (for a part of
  /// a group, whose pointers are read from memory, one integer).
  int64_t alignmentOf(mlir::Value base, mlir::Type element) const;
  /// The scratch from byte `offset` on (address space 1).
  mlir::Value scratch(mlir::OpBuilder &builder, int64_t offset) const;
  /// Dynamic shared memory (address space 3), aligned to 16 bytes; its size is the launch's sharedBytes.
  mlir::Value dynamicShared(mlir::OpBuilder &builder) const;
  /// Static shared memory of this kernel (address space 3), aligned to 16 bytes.
  mlir::Value staticShared(mlir::OpBuilder &builder, mlir::Type element, int64_t count) const;

  mlir::Location loc() const { return function.getLoc(); }
  mlir::Block *entry() const { return &function->getRegion(0).front(); }
  llvm::ArrayRef<mlir::Value> buffers() const { return allBuffers; } ///< tensors, then results, in order
  llvm::ArrayRef<mlir::Value> scalars() const { return allNumbers; }

  /// The frame of one kernel of a group, inside this one: its own buffers, numbers and scratch (null: none), what
  /// builds where it begins, and the number of the block in its own grid. Parts lie on each other's static shared
  /// memory: a block works for one of them.
  GpuFrame part(mlir::func::FuncOp own, llvm::ArrayRef<mlir::Value> buffers, llvm::ArrayRef<mlir::Value> numbers,
                mlir::Value scratch, const mlir::OpBuilder &begin, mlir::Value blockX, mlir::Value blockY) const;
  /// Where a part begins; none for a whole kernel, which begins at the entry block's end.
  std::optional<mlir::OpBuilder::InsertPoint> begin() const { return partBegin; }
  /// Index of a part's block, x and y; null for a whole kernel.
  mlir::Value blockX() const { return partX; }
  mlir::Value blockY() const { return partY; }

private:
  friend class StepKernel;
  void bind(llvm::ArrayRef<mlir::Value> buffers, llvm::ArrayRef<mlir::Value> numbers); ///< to the kernel's arguments
  mutable mlir::LLVM::LLVMFuncOp function;
  mlir::func::FuncOp kernel;
  llvm::DenseMap<mlir::Value, mlir::Value> tensors, numbers;
  llvm::SmallVector<mlir::Value> allBuffers, allNumbers;
  mlir::Value scratchBase;
  std::optional<mlir::OpBuilder::InsertPoint> partBegin;
  mlir::Value partX, partY;
  /// Shared arrays of the GPU kernel by type, and how many of each this part has taken.
  using SharedArrays = std::map<std::pair<void const *, unsigned>, std::string>;
  mutable std::shared_ptr<SharedArrays> sharedArrays = std::make_shared<SharedArrays>();
  mutable llvm::DenseMap<mlir::Type, unsigned> takenShared;
};

class StepKernel {
public:
  /// Adds a module with the kernel's name to `into`. `scratchBytes`: 0 for a kernel without.
  StepKernel(mlir::func::FuncOp kernel, mlir::ModuleOp into, int64_t scratchBytes);
  /// Adds a GPU kernel: `body` writes it from the entry block's end on (ops of LLVM, NVVM, arith, math, scf and
  /// one-dimensional vector; the return is added), and says how it is launched; the symbol is given here.
  void add(llvm::function_ref<Launch(GpuFrame &)> body);
  /// Writes launchesAttr and scratchAttr on the kernel function.
  void finish();

private:
  mlir::func::FuncOp kernel;
  mlir::ModuleOp module;
  int64_t scratchBytes;
  llvm::SmallVector<Launch> launches;
};
} // namespace hocket::cuda
