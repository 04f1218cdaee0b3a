// See Kernels.h: LLVM IR, its optimisation, and the object file.
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/Codegen/CPU/Kernels.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace hocket::cpu {
namespace {
llvm::GlobalVariable *addConstant(llvm::Module &module, llvm::Constant *value, llvm::StringRef name, bool exported) {
  return new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                  exported ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::PrivateLinkage,
                                  value, name);
}

void addKernelTable(llvm::Module &module) {
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::getUnqual(context);
  auto *entry = llvm::StructType::get(context, {pointer, pointer});
  std::vector<llvm::Constant *> entries;
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    auto *name = addConstant(module, llvm::ConstantDataArray::getString(context, function.getName()), "", false);
    entries.push_back(llvm::ConstantStruct::get(entry, {name, &function}));
  }
  auto *table = llvm::ArrayType::get(entry, entries.size());
  addConstant(module, llvm::ConstantArray::get(table, entries), "hocket_kernels", true);
  auto *count = llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), entries.size());
  addConstant(module, count, "hocket_kernel_count", true);
}

void addProgram(llvm::Module &module, llvm::ArrayRef<char> program) {
  llvm::LLVMContext &context = module.getContext();
  auto *bytes = llvm::ConstantDataArray::getRaw(llvm::StringRef(program.data(), program.size()), program.size(),
                                                llvm::Type::getInt8Ty(context));
  auto *begin = addConstant(module, bytes, "hocket_program_begin", true);
  begin->setSection(".hocket.program");
  begin->setAlignment(llvm::Align(64));
  auto *size = llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), program.size());
  auto *end = llvm::ConstantExpr::getGetElementPtr(llvm::Type::getInt8Ty(context), begin, size);
  llvm::GlobalAlias::create(llvm::Type::getInt8Ty(context), 0, llvm::GlobalValue::ExternalLinkage, "hocket_program_end",
                            end, &module);
}

llvm::Error fault(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}
} // namespace

llvm::Expected<std::unique_ptr<llvm::Module>> translateKernels(mlir::ModuleOp kernels, const CpuTarget &target,
                                                               llvm::LLVMContext &context) {
  mlir::registerBuiltinDialectTranslation(*kernels.getContext());
  mlir::registerLLVMDialectTranslation(*kernels.getContext());
  std::unique_ptr<llvm::TargetMachine> machine = target.machine();
  if (!machine)
    return fault("LLVM has no code generator for " + target.triple);
  std::unique_ptr<llvm::Module> module = mlir::translateModuleToLLVMIR(kernels, context, "hocket_kernels");
  if (!module)
    return fault("the kernels could not be translated to LLVM IR");
  module->setTargetTriple(llvm::Triple(target.triple));
  module->setDataLayout(machine->createDataLayout());
  if (llvm::Error error = mlir::makeOptimizingTransformer(3, 0, machine.get())(module.get()))
    return std::move(error);
  return std::move(module);
}

llvm::Expected<llvm::SmallVector<char, 0>> emitObject(mlir::ModuleOp kernels, const CpuTarget &target,
                                                      llvm::ArrayRef<char> program) {
  llvm::LLVMContext context;
  auto module = translateKernels(kernels, target, context);
  if (!module)
    return module.takeError();
  addKernelTable(**module);
  addProgram(**module, program);
  std::unique_ptr<llvm::TargetMachine> machine = target.machine();
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return fault("LLVM cannot write objects for " + target.triple);
  passes.run(**module);
  return object;
}
} // namespace hocket::cpu
