// See CpuTarget.h.
#include "passes/Codegen/CPU/CpuTarget.h"
#include "dialect/NN/NN.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include <mutex>

namespace hocket::cpu {
namespace {
void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}
/// What vector code may rest on; others (crypto, security) never matter to a kernel.
constexpr llvm::StringLiteral vectorFeatures[] = {"sse4.2",   "avx",      "avx2",     "fma",  "f16c", "avx512f",
                                                  "avx512dq", "avx512bw", "avx512vl", "neon", "sve"};
const llvm::Target *lookUp(const std::string &triple, std::string &error) {
  return llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), error);
}
std::string hostFeatureText() {
  std::string text;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    text += (text.empty() ? "" : ",") + std::string(feature.second ? "+" : "-") + feature.first().str();
  return text;
}
} // namespace

mlir::FailureOr<CpuTarget> CpuTarget::find(llvm::StringRef march, std::string &error) {
  initialize();
  CpuTarget target;
  target.triple = llvm::sys::getProcessTriple();
  const llvm::Target *backend = lookUp(target.triple, error);
  if (!backend)
    return mlir::failure();
  bool native = march == "native";
  target.cpu = native ? llvm::sys::getHostCPUName().str() : march.str();
  target.featureText = native ? hostFeatureText() : "";
  llvm::Triple triple(target.triple);
  std::unique_ptr<llvm::MCSubtargetInfo> any(backend->createMCSubtargetInfo(triple, "", ""));
  if (!any->isCPUStringValid(target.cpu)) {
    llvm::SmallVector<llvm::StringRef> known;
    for (const auto &processor : any->getAllProcessorDescriptions())
      known.push_back(processor.Key);
    llvm::StringRef near = nn::nearestName(target.cpu, known);
    error = "unknown CPU '" + target.cpu + "'" + (near.empty() ? "" : " (nearest: " + near.str() + ")");
    return mlir::failure();
  }
  std::unique_ptr<llvm::MCSubtargetInfo> info(backend->createMCSubtargetInfo(triple, target.cpu, target.featureText));
  if (triple.isX86() && triple.isArch64Bit() && !info->checkFeatures("+64bit")) {
    error = "CPU '" + target.cpu + "' has no 64-bit mode, which programs for " + target.triple + " need";
    return mlir::failure();
  }
  for (llvm::StringRef feature : vectorFeatures) {
    bool known = llvm::any_of(info->getAllProcessorFeatures(),
                              [&](const llvm::SubtargetFeatureKV &each) { return feature == each.Key; });
    if (known && info->checkFeatures("+" + feature.str()))
      target.features.push_back(feature.str());
  }
  bool arm = triple.isAArch64();
  target.fma = arm || llvm::is_contained(target.features, "fma");
  target.halfConversion = arm || llvm::is_contained(target.features, "f16c");
  target.wideVectors = llvm::is_contained(target.features, "avx512f");
  return target;
}

std::unique_ptr<llvm::TargetMachine> CpuTarget::machine() const {
  initialize();
  std::string error;
  const llvm::Target *backend = lookUp(triple, error);
  if (!backend)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      llvm::Triple(triple), cpu, featureText, options, llvm::Reloc::PIC_, {}, llvm::CodeGenOptLevel::Aggressive));
}
} // namespace hocket::cpu
