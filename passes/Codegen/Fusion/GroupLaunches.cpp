// The pass codegen-group-launches; see Passes.td.
#include "passes/Codegen/Fusion/KernelShape.h"
#include "passes/Codegen/Fusion/Outline.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::codegen {
#define GEN_PASS_DEF_CODEGENGROUPLAUNCHESPASS
#include "passes/Codegen/Fusion/Passes.h.inc"

namespace {
/// Parameters of a GPU kernel, 8 bytes each, of which one is left for the scratch.
constexpr size_t mostParameters = 4096 / 8 - 1;

/// Launches that may become one, at the place of the first.
struct Candidates {
  SmallVector<step::LaunchOp> launches;
  llvm::SetVector<Value> inputs, scalars;
  size_t results = 0;

  void add(step::LaunchOp launch) {
    inputs.insert(launch.getInputs().begin(), launch.getInputs().end());
    scalars.insert(launch.getScalars().begin(), launch.getScalars().end());
    results += launch.getNumResults();
    launches.push_back(launch);
  }
  /// Adds the launch if what it reads is there at the place of the first and there is room for its parameters.
  bool take(step::LaunchOp launch) {
    bool there = launches.empty() || llvm::all_of(launch->getOperands(), [&](Value operand) {
                   Operation *maker = operand.getDefiningOp();
                   return !maker || maker->getBlock() != launch->getBlock() || maker->isBeforeInBlock(launches.front());
                 });
    if (!there)
      return false;
    Candidates more = *this;
    more.add(launch);
    if (!launches.empty() && more.inputs.size() + more.scalars.size() + more.results > mostParameters)
      return false;
    *this = std::move(more);
    return true;
  }
};

SmallVector<Operation *> opsOf(func::FuncOp kernel) {
  return llvm::map_to_vector(kernel.getBody().front().without_terminator(), [](Operation &op) { return &op; });
}
/// Spread results are written to buckets, which others fill as well.
bool mayShareLaunch(func::FuncOp kernel) {
  SmallVector<Operation *> ops = opsOf(kernel);
  return !kernel->hasAttr(partsAttr) && kernelShape(ops) &&
         llvm::none_of(ops, [](Operation *op) { return roleOf(op) == Role::Alone || roleOf(op) == Role::Spread; });
}

class Grouping {
public:
  Grouping(ModuleOp module) : module(module), symbols(module), library(module) {}

  /// One round; true if launches were joined. What they make is then known earlier, so that more may be.
  bool run(step::BodyOp body) {
    llvm::MapVector<StringAttr, std::vector<Candidates>> open;
    std::vector<Candidates> closed;
    auto close = [&] {
      for (auto &[words, groups] : open)
        llvm::move(groups, std::back_inserter(closed));
      open.clear();
    };
    for (Operation &op : body.getBody().front()) {
      auto launch = dyn_cast<step::LaunchOp>(op);
      if (!launch && !isa<step::LoadOp, step::StoreOp, step::RankScalarOp>(op))
        close();
      if (!launch)
        continue;
      auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
      if (!kernel || !mayShareLaunch(kernel))
        continue;
      auto &groups = open[wordsOf(kernel)];
      if (llvm::none_of(groups, [&](Candidates &group) { return group.take(launch); }))
        groups.emplace_back().take(launch);
    }
    close();
    bool any = false;
    for (const Candidates &group : closed)
      if (group.launches.size() > 1)
        join(group), any = true;
    return any;
  }
  /// Kernels that no launch names any more.
  void eraseUnused() {
    llvm::SmallPtrSet<Operation *, 32> used;
    module.walk([&](step::LaunchOp launch) { used.insert(symbols.lookup(launch.getKernel())); });
    for (func::FuncOp kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (kernel.isPrivate() && !kernel.isExternal() && replaced.contains(kernel) && !used.contains(kernel))
        kernel.erase();
  }

private:
  /// The names of a kernel's ops: what the kernels of a group have in common.
  static StringAttr wordsOf(func::FuncOp kernel) {
    std::string words;
    for (Operation *op : opsOf(kernel))
      words += op->getName().getStringRef().str() + " ";
    return StringAttr::get(kernel.getContext(), words);
  }

  void join(const Candidates &found) {
    Candidates group; // anew: other groups of the round may have taken the place of what these read
    for (step::LaunchOp launch : found.launches)
      group.add(launch);
    step::LaunchOp first = group.launches.front();
    std::string name = "k_" + wordsFor(opsOf(symbols.lookup<func::FuncOp>(first.getKernel()))) + "_of_" +
                       std::to_string(group.launches.size());
    func::FuncOp kernel = library.findOrInsert(makeGroup(group), name);
    SmallVector<Type> types;
    SmallVector<Attribute> shardings;
    for (step::LaunchOp launch : group.launches) {
      replaced.insert(symbols.lookup(launch.getKernel()));
      for (OpResult result : launch->getResults())
        types.push_back(result.getType()), shardings.push_back(shardingOf(result));
    }
    OpBuilder builder(first);
    auto joined = step::LaunchOp::create(builder, first.getLoc(), types, FlatSymbolRefAttr::get(kernel),
                                         group.inputs.getArrayRef(), group.scalars.getArrayRef(), ValueRange(),
                                         commonPath(group), first.getPhaseAttr(), ArrayAttr());
    nn::setShardings(joined, shardings);
    size_t next = 0;
    for (step::LaunchOp launch : group.launches) {
      for (Value result : launch->getResults())
        result.replaceAllUsesWith(joined->getResult(next++));
      launch.erase();
    }
  }

  /// The kernels of the group in one function, one after another.
  OwningOpRef<func::FuncOp> makeGroup(const Candidates &group) {
    Builder types(module.getContext());
    SmallVector<Value> inputs(group.inputs.begin(), group.inputs.end());
    inputs.append(group.scalars.begin(), group.scalars.end());
    SmallVector<Type> resultTypes;
    for (step::LaunchOp launch : group.launches)
      llvm::append_range(resultTypes, launch->getResultTypes());
    step::LaunchOp first = group.launches.front();
    OwningOpRef<func::FuncOp> made =
        func::FuncOp::create(first.getLoc(), "k", types.getFunctionType(TypeRange(ValueRange(inputs)), resultTypes));
    made->setPrivate();
    Block *body = made->addEntryBlock();
    llvm::DenseMap<Value, unsigned> places;
    for (auto [i, input] : llvm::enumerate(inputs))
      places[input] = static_cast<unsigned>(i);
    OpBuilder builder = OpBuilder::atBlockEnd(body);
    SmallVector<Value> returned;
    SmallVector<int64_t> parts, pairs;
    for (step::LaunchOp launch : group.launches) {
      auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
      SmallVector<Value> operands(launch.getInputs());
      llvm::append_range(operands, launch.getScalars());
      IRMapping mapping;
      for (auto [argument, operand] : llvm::zip(kernel.getArguments(), operands))
        mapping.map(argument, body->getArgument(places[operand]));
      SmallVector<Operation *> ops = opsOf(kernel);
      parts.push_back(static_cast<int64_t>(ops.size()));
      for (Operation *op : ops)
        builder.clone(*op, mapping);
      if (auto own = kernel->getAttrOfType<DenseI64ArrayAttr>(inPlaceAttr))
        for (int64_t i = 0; i + 1 < own.size(); i += 2)
          pairs.append({own[i] + static_cast<int64_t>(returned.size()), int64_t(places[operands[own[i + 1]]])});
      for (Value result : kernel.getBody().front().getTerminator()->getOperands())
        returned.push_back(mapping.lookup(result));
    }
    func::ReturnOp::create(builder, first.getLoc(), returned);
    if (!pairs.empty())
      (*made)->setAttr(inPlaceAttr, types.getDenseI64ArrayAttr(pairs));
    (*made)->setAttr(partsAttr, types.getDenseI64ArrayAttr(parts));
    return made;
  }

  /// The layer that all launches lie in: "h.3" of "h.3.ln_1" and "h.3.attn.proj"; null if there is none.
  static StringAttr commonPath(const Candidates &group) {
    SmallVector<StringRef> common;
    for (auto [i, each] : llvm::enumerate(group.launches)) {
      step::LaunchOp launch = each;
      SmallVector<StringRef> own;
      if (std::optional<StringRef> path = launch.getPath())
        path->split(own, '.');
      if (i == 0)
        common = own;
      size_t same = 0;
      while (same < std::min(common.size(), own.size()) && common[same] == own[same])
        ++same;
      common.truncate(same);
    }
    if (common.empty())
      return {};
    return StringAttr::get(group.launches.front()->getContext(), llvm::join(common, "."));
  }

  ModuleOp module;
  SymbolTable symbols;
  KernelLibrary library;
  llvm::SmallPtrSet<Operation *, 32> replaced;
};

struct CodegenGroupLaunches : impl::CodegenGroupLaunchesPassBase<CodegenGroupLaunches> {
  void runOnOperation() override {
    Grouping grouping(getOperation());
    SmallVector<step::BodyOp> bodies;
    getOperation().walk([&](step::BodyOp body) {
      if (body.getKind() == step::BodyKind::Begin || body.getKind() == step::BodyKind::Update)
        bodies.push_back(body);
    });
    for (step::BodyOp body : bodies)
      while (grouping.run(body))
        continue;
    grouping.eraseUnused();
  }
};
} // namespace
} // namespace hocket::codegen
