// See Kernels.h: LLVM bitcode of a kernel, and PTX of the bitcode.
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/Codegen/CUDA/Kernels.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <mutex>

namespace hocket::cuda {
namespace {
constexpr llvm::StringLiteral triple = "nvptx64-nvidia-cuda";

llvm::Error fault(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machineFor(llvm::StringRef architecture) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), error);
  if (!backend)
    return fault("LLVM has no code generator for " + triple + ": " + error);
  llvm::TargetOptions options;
  // products and sums are contracted where the emitters say so, and nowhere else
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      llvm::Triple(triple), architecture, "", options, llvm::Reloc::PIC_, {}, llvm::CodeGenOptLevel::Aggressive));
}

/// Functions that are declared, called, and neither here nor instructions.
std::string undefinedFunctions(const llvm::Module &module) {
  std::string names;
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty())
      names += (names.empty() ? "" : ", ") + function.getName().str();
  return names;
}

llvm::Error linkLibdevice(llvm::Module &module, const Toolkit &toolkit) {
  if (undefinedFunctions(module).empty())
    return llvm::Error::success();
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> library = llvm::parseIRFile(toolkit.libdevice, diagnostic, module.getContext());
  if (!library)
    return fault("cannot read " + toolkit.libdevice + ": " + diagnostic.getMessage());
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  if (llvm::Linker::linkModules(module, std::move(library), llvm::Linker::LinkOnlyNeeded))
    return fault("cannot link " + toolkit.libdevice);
  if (std::string missing = undefinedFunctions(module); !missing.empty()) {
    // nvvm-reflect's questions are answered by the optimiser
    if (missing != "__nvvm_reflect")
      return fault("kernel calls functions that libdevice does not have: " + missing);
  }
  return llvm::Error::success();
}
} // namespace

llvm::Expected<std::string> translateKernel(mlir::ModuleOp kernel, const Toolkit &toolkit) {
  mlir::registerBuiltinDialectTranslation(*kernel.getContext());
  mlir::registerLLVMDialectTranslation(*kernel.getContext());
  mlir::registerNVVMDialectTranslation(*kernel.getContext());
  auto machine = machineFor(architectures[0]);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  llvm::StringRef name = kernel.getSymName() ? *kernel.getSymName() : llvm::StringRef("kernel");
  std::unique_ptr<llvm::Module> module = mlir::translateModuleToLLVMIR(kernel, context, name);
  if (!module)
    return fault("kernel " + name + " could not be translated to LLVM IR");
  module->setTargetTriple(llvm::Triple(triple));
  module->setDataLayout((*machine)->createDataLayout());
  if (llvm::Error error = linkLibdevice(*module, toolkit))
    return std::move(error);
  llvm::internalizeModule(*module, [](const llvm::GlobalValue &value) {
    auto *function = llvm::dyn_cast<llvm::Function>(&value);
    return value.isDeclaration() || (function && function->getCallingConv() == llvm::CallingConv::PTX_Kernel);
  });
  if (llvm::Error error = mlir::makeOptimizingTransformer(3, 0, machine->get())(module.get()))
    return std::move(error);
  if (std::string missing = undefinedFunctions(*module); !missing.empty())
    return fault("kernel " + name + " calls functions that nothing defines: " + missing);
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*module, stream);
  return bitcode;
}

llvm::Expected<std::string> emitPtx(llvm::StringRef bitcode, llvm::StringRef architecture) {
  auto machine = machineFor(architecture);
  if (!machine)
    return machine.takeError();
  if (!(*machine)->getMCSubtargetInfo()->isCPUStringValid(architecture) || !architecture.starts_with("sm_"))
    return fault("unknown architecture '" + architecture + "', expected one like sm_80, sm_90 or sm_100");
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseIR(llvm::MemoryBufferRef(bitcode, "kernel"), diagnostic, context);
  if (!module)
    return fault("cannot read the bitcode of a kernel: " + diagnostic.getMessage());
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return fault("LLVM cannot write PTX");
  passes.run(*module);
  return text.str().str();
}
} // namespace hocket::cuda
