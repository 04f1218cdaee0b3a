// Parse, link libdevice, translate, optimize, compile.
#include "runtime/Device/Emulator/Load.h"
#include "runtime/Device/Emulator/Intrinsics.h"
#include "runtime/Device/Emulator/Translate.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hocket::runtime::emulator {

using namespace llvm;

// Passes by their textual name, without a target: cleaning up needs none.
static void runPasses(Module &module, StringRef pipeline) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  ModulePassManager passes;
  cantFail(builder.parsePassPipeline(passes, pipeline));
  passes.run(module, modules);
}

static std::string libdevicePath(const Options &options) {
  if (!options.libdevice.empty())
    return options.libdevice;
  for (const char *from : {"CUDA_HOME", "CUDA_PATH", ""}) {
    const char *root = *from ? std::getenv(from) : "/usr/local/cuda";
    std::string path = root ? std::string(root) + "/nvvm/libdevice/libdevice.10.bc" : std::string();
    std::error_code ignored;
    if (!path.empty() && std::filesystem::exists(path, ignored))
      return path;
  }
  return {};
}

static bool needsLibdevice(Module &module) {
  for (Function &function : module)
    if (function.isDeclaration() && !function.use_empty() && function.getName().starts_with("__nv_"))
      return true;
  return false;
}

static Status linkLibdevice(Module &module, const Options &options) {
  std::string path = libdevicePath(options);
  if (path.empty())
    return {};
  SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> library = getLazyIRFileModule(path, diagnostic, module.getContext());
  if (!library)
    return invalid(fmt::format("cannot read libdevice {}: {}", path, diagnostic.getMessage().str()));
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  if (Linker::linkModules(module, std::move(library), Linker::LinkOnlyNeeded))
    return invalid(fmt::format("cannot link libdevice {}", path));
  return {};
}

// Kernels, and nothing else of the device's conventions.
static std::vector<Function *> takeKernels(Module &module) {
  for (const char *list : {"llvm.used", "llvm.compiler.used"})
    if (GlobalVariable *variable = module.getGlobalVariable(list))
      variable->eraseFromParent();
  std::vector<Function *> kernels;
  for (Function &function : module) {
    for (const char *attribute : {"target-cpu", "target-features", "tune-cpu"})
      function.removeFnAttr(attribute);
    if (function.getCallingConv() == CallingConv::PTX_Kernel && !function.isDeclaration())
      kernels.push_back(&function);
    function.setCallingConv(CallingConv::C);
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&instruction))
        call->setCallingConv(CallingConv::C);
  }
  return kernels;
}

// AVX2 and FMA, nothing newer, so that every host gives the same bits (AVX-512 bf16 would flush subnormal numbers).
static Result<orc::JITTargetMachineBuilder> hostMachine() {
  static const bool ready = !InitializeNativeTarget() && !InitializeNativeTargetAsmPrinter();
  StringMap<bool> features = sys::getHostCPUFeatures();
  if (!ready || !features.lookup("avx2") || !features.lookup("fma") || !features.lookup("f16c"))
    return Error{ErrorKind::Lacking, "the emulator needs a CPU with AVX2, FMA and F16C", {}};
  orc::JITTargetMachineBuilder machine{Triple(sys::getProcessTriple())};
  machine.setCPU("x86-64-v3");
  machine.setCodeGenOptLevel(CodeGenOptLevel::Default);
  return machine;
}

// Everything LLVM may call for its own intrinsics.
static orc::SymbolMap symbolMap(orc::LLJIT &jit, const Symbols &symbols) {
  orc::SymbolMap map;
  auto add = [&](const std::string &name, void *address) {
    map[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(address),
                                      JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  };
  for (const auto &[name, intrinsic] : hostFunctions())
    add(name, intrinsic.function);
  for (const auto &[name, address] : symbols)
    add(name, address);
  return map;
}

static Status compile(LoadedModule &result, std::unique_ptr<llvm::Module> module, std::unique_ptr<LLVMContext> context,
                      orc::JITTargetMachineBuilder machine, const Symbols &symbols) {
  auto made = orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(machine)).create();
  if (!made)
    return invalid("cannot make a compiler for this machine: " + toString(made.takeError()));
  std::shared_ptr<orc::LLJIT> jit = std::move(*made);
  if (auto error = jit->getMainJITDylib().define(orc::absoluteSymbols(symbolMap(*jit, symbols))))
    return invalid(toString(std::move(error)));
  if (auto error = jit->addIRModule(orc::ThreadSafeModule(std::move(module), std::move(context))))
    return invalid(toString(std::move(error)));
  for (const Kernel &kernel : result.known) {
    auto address = jit->lookup("hocketKernel." + kernel.name);
    if (!address)
      return invalid(fmt::format("kernel \"{}\" cannot be compiled for this machine: {}", kernel.name,
                                 toString(address.takeError())));
    result.entries.push_back(address->toPtr<KernelEntry>());
  }
  result.code = std::move(jit);
  return {};
}

static Result<std::unique_ptr<llvm::Module>> parse(std::string_view bitcode, LLVMContext &context) {
  SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module =
      parseIR(MemoryBufferRef({bitcode.data(), bitcode.size()}, "kernel"), diagnostic, context);
  if (!module)
    return invalid(fmt::format("not LLVM IR: {}", diagnostic.getMessage().str()));
  if (!module->getTargetTriple().isNVPTX())
    return invalid(fmt::format("made for \"{}\", not for nvptx64", module->getTargetTriple().str()));
  return module;
}

// Names of what a kernel takes, and the size of each argument.
static std::vector<Kernel> describe(const std::vector<Function *> &kernels, const DataLayout &layout) {
  std::vector<Kernel> described;
  for (Function *kernel : kernels) {
    described.push_back({kernel->getName().str(), {}});
    for (Argument &argument : kernel->args()) {
      Type *type = argument.hasByValAttr() ? argument.getParamByValType() : argument.getType();
      described.back().argumentBytes.push_back(static_cast<uint32_t>(layout.getTypeAllocSize(type)));
    }
  }
  return described;
}

Result<std::unique_ptr<LoadedModule>> loadModule(std::string_view bitcode, const Options &options) {
  Result<orc::JITTargetMachineBuilder> machine = hostMachine();
  if (!machine)
    return machine.error();
  auto context = std::make_unique<LLVMContext>();
  Result<std::unique_ptr<llvm::Module>> parsed = parse(bitcode, *context);
  if (!parsed)
    return parsed.error();
  Module &module = **parsed;
  if (needsLibdevice(module))
    if (Status linked = linkLibdevice(module, options); !linked)
      return linked.error();
  std::vector<Function *> kernels = takeKernels(module);
  if (kernels.empty())
    return invalid("no kernel in it");
  internalizeModule(module,
                    [&](const GlobalValue &value) { return is_contained(kernels, &value) || value.isDeclaration(); });
  answerReflection(module);
  runPasses(module, "function(sroa,early-cse,simplifycfg),globaldce");

  auto targetMachine = machine->createTargetMachine();
  if (!targetMachine)
    return invalid(toString(targetMachine.takeError()));
  module.setTargetTriple((*targetMachine)->getTargetTriple());
  module.setDataLayout((*targetMachine)->createDataLayout());
  auto result = std::make_unique<LoadedModule>();
  result->known = describe(kernels, module.getDataLayout());
  Sites sites = collectSites(module);
  result->sites = sites.texts;
  Symbols symbols;
  if (options.check)
    instrument(module, sites, symbols);
  if (std::vector<std::string> unknown = replaceIntrinsics(module, sites, symbols); !unknown.empty())
    return invalid(fmt::format("the emulator does not know {}", fmt::join(unknown, ", ")));
  result->staticBytes = placeShared(module, symbols);
  wrapKernels(module, kernels);
  StripDebugInfo(module);
  if (NamedMDNode *annotations = module.getNamedMetadata("nvvm.annotations"))
    module.eraseNamedMetadata(annotations);
  std::string faults;
  raw_string_ostream stream(faults);
  if (verifyModule(module, &stream))
    return invalid("translated to invalid IR: " + faults);
  runPasses(module, "default<O2>");
  if (Status compiled = compile(*result, std::move(*parsed), std::move(context), std::move(*machine), symbols);
      !compiled)
    return compiled.error();
  return result;
}

} // namespace hocket::runtime::emulator
