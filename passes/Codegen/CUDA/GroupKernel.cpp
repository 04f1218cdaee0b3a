// See GroupKernel.h.
#include "passes/Codegen/CUDA/GroupKernel.h"
#include "passes/Codegen/CUDA/GraphKernel.h"
#include "passes/Codegen/Fusion/Outline.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace hocket::cuda {
namespace {
/// Parts with one text.
struct PartClass {
  OwningOpRef<func::FuncOp> kernel;
  std::unique_ptr<GraphKernel> graph;
  SmallVector<Launch> alone; ///< how one of them is launched by itself
  /// Of each part, among the group's buffers and numbers: those of the class kernel, in order.
  std::vector<SmallVector<unsigned>> buffers, numbers;
  int64_t scratchOffset = 0;

  int64_t parts() const { return static_cast<int64_t>(buffers.size()); }
  int64_t scratchOfPart() const { return llvm::alignTo(graph->scratchBytes(), 16); }
  int64_t blocksOfPart(size_t launch) const {
    const auto &grid = alone[launch].grid;
    return grid[0] * grid[1] * grid[2];
  }
};

class GroupKernel {
public:
  GroupKernel(func::FuncOp kernel, ModuleOp into) : kernel(kernel), into(into) {}

  LogicalResult run() {
    if (failed(classify()))
      return failure();
    int64_t scratch = 0;
    for (PartClass &each : classes) {
      each.scratchOffset = scratch;
      scratch += each.parts() * each.scratchOfPart();
    }
    StepKernel step(kernel, into, scratch);
    size_t launches = 0;
    for (const PartClass &each : classes)
      launches = std::max(launches, each.alone.size());
    for (size_t launch = 0; launch < launches; ++launch)
      for (const std::array<int64_t, 3> &block : blocksOf(launch))
        step.add([&](GpuFrame &frame) { return write(frame, launch, block); });
    step.finish();
    return success();
  }

private:
  /// Finds the parts and their classes, and how a part of each is launched alone.
  LogicalResult classify() {
    llvm::StringMap<size_t> known;
    Block::iterator next = kernel.getBody().front().begin();
    for (int64_t count : kernel->getAttrOfType<DenseI64ArrayAttr>(codegen::partsAttr).asArrayRef()) {
      SmallVector<Operation *> ops;
      for (int64_t i = 0; i < count && !next->hasTrait<OpTrait::IsTerminator>(); ++i)
        ops.push_back(&*next++);
      codegen::Interface interface(ops);
      OwningOpRef<func::FuncOp> part = codegen::makeKernel(ops, interface);
      auto [found, isNew] = known.try_emplace(codegen::textOf(*part), classes.size());
      if (isNew && failed(addClass(std::move(part))))
        return failure();
      addPart(classes[found->second], interface);
    }
    if (!next->hasTrait<OpTrait::IsTerminator>())
      return kernel.emitOpError("has ops that belong to none of its parts");
    return success();
  }
  LogicalResult addClass(OwningOpRef<func::FuncOp> part) {
    PartClass &made = classes.emplace_back();
    made.kernel = std::move(part);
    made.graph = std::make_unique<GraphKernel>(*made.kernel);
    if (failed(made.graph->plan()))
      return failure();
    OwningOpRef<ModuleOp> aside = ModuleOp::create(kernel.getLoc());
    StepKernel step(*made.kernel, *aside, made.graph->scratchBytes());
    for (size_t i = 0; i < made.graph->launches(); ++i)
      step.add([&](GpuFrame &frame) { return made.graph->write(i, frame); });
    step.finish();
    made.alone = launchesOf(*made.kernel);
    return success();
  }
  void addPart(PartClass &of, const codegen::Interface &interface) {
    SmallVector<Value> tensors, numbers;
    for (Value argument : kernel.getArguments())
      (isa<RankedTensorType>(argument.getType()) ? tensors : numbers).push_back(argument);
    auto returned = kernel.getBody().front().getTerminator()->getOperands();
    auto &buffers = of.buffers.emplace_back(), &scalars = of.numbers.emplace_back();
    for (Value tensor : interface.tensors)
      buffers.push_back(static_cast<unsigned>(llvm::find(tensors, tensor) - tensors.begin()));
    for (Value result : interface.results)
      buffers.push_back(static_cast<unsigned>(tensors.size() + (llvm::find(returned, result) - returned.begin())));
    for (Value number : interface.numbers)
      scalars.push_back(static_cast<unsigned>(llvm::find(numbers, number) - numbers.begin()));
  }

  SmallVector<std::array<int64_t, 3>> blocksOf(size_t launch) const {
    SmallVector<std::array<int64_t, 3>> sizes;
    for (const PartClass &each : classes)
      if (launch < each.alone.size() && !llvm::is_contained(sizes, each.alone[launch].block))
        sizes.push_back(each.alone[launch].block);
    return sizes;
  }

  Launch write(GpuFrame &frame, size_t launch, const std::array<int64_t, 3> &block) const {
    SmallVector<const PartClass *> used;
    Launch all;
    all.block = block, all.grid[0] = 0;
    for (const PartClass &each : classes)
      if (launch < each.alone.size() && each.alone[launch].block == block) {
        used.push_back(&each);
        all.grid[0] += each.parts() * each.blocksOfPart(launch);
      }
    GpuEmit e(frame, 1);
    Value own = e.block(all.grid[0]);
    int64_t first = 0;
    for (const PartClass *each : used) {
      int64_t behind = first + each->parts() * each->blocksOfPart(launch);
      Value begun = first ? e.compare(arith::CmpIPredicate::uge, own, e.i64(first)) : Value();
      Value within = behind < all.grid[0] ? e.compare(arith::CmpIPredicate::ult, own, e.i64(behind)) : Value();
      auto body = [&] { writeClass(e, frame, *each, launch, e.minus(own, e.i64(first))); };
      if (Value here = e.both(begun, within))
        e.when(here, body);
      else
        body();
      first = behind;
    }
    return all;
  }

  /// The code of a class; `block`: the number of this block among those of all its parts.
  void writeClass(GpuEmit &e, GpuFrame &frame, const PartClass &of, size_t launch, Value block) const {
    int64_t blocks = of.blocksOfPart(launch), across = of.alone[launch].grid[0];
    SmallVector<Value> buffers = pick(e, block, blocks, of.buffers, frame.buffers());
    SmallVector<Value> numbers = pick(e, block, blocks, of.numbers, frame.scalars());
    Value own = e.modulo(block, blocks), scratch;
    if (of.graph->scratchBytes()) {
      Value offset = e.plus(e.times(e.over(block, blocks), of.scratchOfPart()), of.scratchOffset);
      scratch = e.address(e.getI8Type(), frame.scratch(e, 0), offset);
    }
    Value row = of.alone[launch].grid[1] == 1 ? e.i64(0) : e.over(own, across);
    GpuFrame part = frame.part(*of.kernel, buffers, numbers, scratch, e, e.modulo(own, across), row);
    of.graph->write(launch, part);
  }

  /// Of the part that `block` belongs to: the values that `of` names, by a search among the parts.
  static SmallVector<Value> pick(GpuEmit &e, Value block, int64_t blocks, ArrayRef<SmallVector<unsigned>> of,
                                 ArrayRef<Value> values) {
    SmallVector<Value> picked;
    for (unsigned index : of.front())
      picked.push_back(values[index]);
    SmallVector<unsigned> differing; // what the parts have in common needs no search
    SmallVector<Type> types;
    for (size_t i = 0; i < picked.size(); ++i)
      if (llvm::any_of(of, [&](const auto &part) { return part[i] != of.front()[i]; }))
        differing.push_back(static_cast<unsigned>(i)), types.push_back(picked[i].getType());
    auto search = [&](auto &&self, size_t begin, size_t end) -> SmallVector<Value> {
      if (end - begin == 1)
        return llvm::map_to_vector(differing, [&](unsigned i) { return readHere(e, values[of[begin][i]]); });
      size_t middle = begin + (end - begin) / 2;
      Value lower = e.compare(arith::CmpIPredicate::ult, block, e.i64(static_cast<int64_t>(middle) * blocks));
      auto branch = scf::IfOp::create(e, types, lower, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(e);
      e.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(e, self(self, begin, middle));
      e.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(e, self(self, middle, end));
      return branch.getResults();
    };
    if (!differing.empty())
      for (auto [i, value] : llvm::zip(differing, search(search, 0, of.size())))
        picked[i] = value;
    return picked;
  }

  /// A parameter, read where it is asked for: the optimiser would read those of all parts and then choose, which takes
  /// hundreds of registers. It moves no assembly.
  static Value readHere(GpuEmit &e, Value parameter) {
    Type word = e.getI64Type(), type = parameter.getType();
    if (type != word)
      parameter = LLVM::PtrToIntOp::create(e, word, parameter);
    Value read =
        LLVM::InlineAsmOp::create(e, TypeRange(word), ValueRange(parameter), e.getStringAttr("mov.b64 $0, $1;"),
                                  e.getStringAttr("=l,l"), UnitAttr(), UnitAttr(),
                                  LLVM::TailCallKindAttr::get(e.getContext(), LLVM::TailCallKind::None),
                                  LLVM::AsmDialectAttr(), ArrayAttr())
            .getResult(0);
    return type == word ? read : Value(LLVM::IntToPtrOp::create(e, type, read));
  }

  func::FuncOp kernel;
  ModuleOp into;
  std::vector<PartClass> classes;
};
} // namespace

LogicalResult emitGroup(func::FuncOp kernel, ModuleOp into) { return GroupKernel(kernel, into).run(); }
} // namespace hocket::cuda
