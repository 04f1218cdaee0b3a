// The CPU that kernels are made for.
#pragma once
#include "mlir/Support/LLVM.h"
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
}

namespace hocket::cpu {
struct CpuTarget {
  std::string triple, cpu;           ///< never "native"
  std::string featureText;           ///< as LLVM takes it: "+avx2,-avx512f"
  std::vector<std::string> features; ///< vector features that kernels may use, for the check at start: "avx512f", "fma"
  bool fma = false, wideVectors = false;
  bool halfConversion = false; ///< instructions between f16 and f32

  /// `march`: "native" for this machine's, or a name that LLVM knows for this machine's architecture. An unknown name
  /// fails; `error` then holds the message.
  static mlir::FailureOr<CpuTarget> find(llvm::StringRef march, std::string &error);
  /// A code generator with position-independent code at the highest level; products and sums are contracted nowhere.
  std::unique_ptr<llvm::TargetMachine> machine() const;
};
} // namespace hocket::cpu
