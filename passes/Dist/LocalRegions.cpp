// Own axes of manual regions, and their ops in the local program.
#include "passes/Dist/LocalRegions.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Dist/Partitioner.h"
using namespace mlir;

namespace hocket::dist {

static Atoms atomsOf(const AxisAtoms &atoms, MeshAxisAttr axis) {
  return atoms.fromRefs(AxisRef{StringAttr::get(axis.getContext(), axis.getName())});
}

OwnSplit ownSplit(const AxisAtoms &atoms, LocalOp region, LocalTypeAttr types, int64_t rank) {
  OwnSplit own{AtomDims(static_cast<size_t>(rank)), {}};
  for (auto [i, type] : llvm::enumerate(types.getAxes())) {
    Atoms axis = atomsOf(atoms, region.axis(i));
    if (type.kind == LocalKind::Varying)
      llvm::append_range(own.dims[type.dim], axis);
    else if (type.kind == LocalKind::Partial)
      llvm::append_range(own.partial, axis);
  }
  return own;
}

static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

OwnSplit ownSplit(const AxisAtoms &atoms, OpOperand &operand) {
  auto region = dyn_cast<LocalOp>(operand.getOwner());
  if (!region)
    return {};
  auto types = cast<LocalTypeAttr>(region.getArgTypes()[operand.getOperandNumber()]);
  return ownSplit(atoms, region, types, rankOf(operand.get()));
}
OwnSplit ownSplit(const AxisAtoms &atoms, OpResult result) {
  auto region = dyn_cast<LocalOp>(result.getOwner());
  if (!region)
    return {};
  auto types = cast<LocalTypeAttr>(region.getResultTypesAttr()[result.getResultNumber()]);
  return ownSplit(atoms, region, types, rankOf(result));
}

Atoms ownAtoms(const AxisAtoms &atoms, Operation *op) {
  Atoms all;
  if (auto region = dyn_cast<LocalOp>(op))
    for (auto axis : region.getAxes().getAsRange<MeshAxisAttr>())
      llvm::append_range(all, atomsOf(atoms, axis));
  return all;
}

static constexpr StringLiteral causeOfRegions = "manual region";
bool isOfRegion(Operation *collective) {
  auto cause = collective->getAttrOfType<StringAttr>("cause");
  return cause && cause.getValue().starts_with(causeOfRegions);
}

LogicalResult checkLocalRegions(const StepGraph &graph, MeshOp mesh) {
  bool sound = true;
  for (const StepOp &op : graph.ops)
    if (auto region = dyn_cast<LocalOp>(op.op))
      for (auto axis : region.getAxes().getAsRange<MeshAxisAttr>()) {
        int64_t size = MeshOp(mesh).getAxisSize(axis.getName());
        if (size == axis.getSize())
          continue;
        sound = false;
        InFlightDiagnostic diag = region.emitOpError();
        diag << "is written for \"" << axis.getName() << "\" of " << axis.getSize() << " ranks, but mesh @"
             << mesh.getSymName();
        if (size)
          diag << " has " << size << " there";
        else
          diag << " has no such axis";
        diag.attachNote(mesh.getLoc()) << "mesh declared here";
      }
  return success(sound);
}

// ---- in the local program
namespace {
/// What other axes make of a value inside of a region.
struct Outer {
  AtomDims dims;
  Atoms partial;
};

class RegionInliner {
public:
  RegionInliner(LocalOp region, const Propagation &propagation, const AxisAtoms &atoms)
      : region(region), propagation(propagation), atoms(atoms), typing(region, region.getBody()), builder(region) {
    typing.run(bodyArguments(region), /*report=*/false);
  }
  /// The local values that the region returns.
  SmallVector<Value> run(ArrayRef<Value> operands);

private:
  void passOn(Operation *each);
  void place(Operation *made, ValueRange globals);
  Value transfer(ConvertOp convert);
  ShardAttr shardOf(Value inner);
  RankedTensorType localOf(Value inner) {
    ShardAttr shard = shardOf(inner);
    return localType(atoms.getMesh(), shard.getGlobal(), shard.getSharding());
  }

  LocalOp region;
  const Propagation &propagation;
  const AxisAtoms &atoms;
  LocalTyping typing;
  OpBuilder builder;
  IRMapping map;
  llvm::DenseMap<Value, Outer> outer;
};
} // namespace

ShardAttr RegionInliner::shardOf(Value inner) {
  const LocalTypes &types = *typing.of(inner);
  auto type = cast<RankedTensorType>(inner.getType());
  OwnSplit own = ownSplit(atoms, region, LocalTypeAttr::get(region.getContext(), types), type.getRank());
  Outer &other = outer[inner];
  for (auto [dim, list] : llvm::enumerate(own.dims))
    llvm::append_range(list, other.dims[dim]);
  llvm::append_range(own.partial, other.partial);
  llvm::sort(own.partial);
  return ShardAttr::get(region.getContext(), globalTypeOf(region.getAxes(), type, types),
                        atoms.toSharding(own.dims, own.partial));
}

/// How other axes split the results of an op: as its operands, partial over what it reduces.
void RegionInliner::passOn(Operation *each) {
  if (auto convert = dyn_cast<ConvertOp>(each)) {
    outer[convert.getY()] = Outer(outer[convert.getX()]);
    return;
  }
  nn::FactorRule rule = cast<nn::FactorOpInterface>(each).getFactorRule();
  SmallVector<Atoms> factors(rule.factors.size());
  Atoms through;
  for (auto [operand, term] : llvm::zip(each->getOperands(), rule.operands)) {
    const Outer &from = outer[operand];
    for (auto [dim, factor] : llvm::enumerate(term))
      if (factors[factor].empty())
        factors[factor] = from.dims[dim];
    for (Atom atom : from.partial)
      if (!llvm::is_contained(through, atom))
        through.push_back(atom);
  }
  for (auto [result, term] : llvm::zip(each->getResults(), rule.results)) {
    Outer &made = outer[result];
    made.partial = through;
    for (int factor : term)
      made.dims.push_back(factors[factor]);
    for (auto [factor, list] : llvm::enumerate(factors))
      if (!llvm::is_contained(term, static_cast<int>(factor)))
        llvm::append_range(made.partial, list);
  }
}

void RegionInliner::place(Operation *made, ValueRange inner) {
  for (StringRef name : {"path", "phase"})
    if (Attribute attribute = region->getAttr(name))
      made->setAttr(name, attribute);
  nn::setShardings(made, llvm::map_to_vector(inner, [&](Value value) -> Attribute { return shardOf(value); }));
}

Value RegionInliner::transfer(ConvertOp convert) {
  Value x = map.lookup(convert.getX());
  auto axis = region.axis(static_cast<size_t>(region.axisIndex(convert.getAxis())));
  if (convert.getBy() == Transfer::Free || atomsOf(atoms, axis).empty())
    return x;
  LocalType from = convert.getFrom().getAxes().front(), to = convert.getTo().getAxes().front();
  auto axes = AxesAttr::get(region.getContext(), AxisRef{convert.getAxisAttr()});
  auto sum = ReductionAttr::get(region.getContext(), Reduction::Sum);
  StringRef path = nn::getPath(region);
  StringAttr cause = builder.getStringAttr(causeOfRegions.str() + (path.empty() ? "" : " of " + path.str()) + ": " +
                                           text(from) + " to " + text(to));
  auto number = [&](int64_t value) { return builder.getI64IntegerAttr(value); };
  Location loc = convert.getLoc();
  Type type = localOf(convert.getY());
  Operation *made = nullptr;
  switch (convert.getBy()) {
  case Transfer::Free:
    break;
  case Transfer::AllReduce:
    made = nn::make<AllReduceOp>(builder, loc, TypeRange{type}, ValueRange{x}, sum, axes, DenseI64ArrayAttr(), cause);
    break;
  case Transfer::ReduceScatter:
    made = nn::make<ReduceScatterOp>(builder, loc, type, x, number(to.dim), sum, axes, cause);
    break;
  case Transfer::AllGather:
    made = nn::make<AllGatherOp>(builder, loc, type, x, number(from.dim), axes, cause);
    break;
  case Transfer::AllToAll:
    made = nn::make<AllToAllOp>(builder, loc, type, x, number(to.dim), number(from.dim), axes, cause);
    break;
  case Transfer::Slice:
    made = nn::make<SliceOp>(builder, loc, type, x, number(to.dim), axes);
    break;
  }
  place(made, convert.getY());
  return made->getResult(0);
}

SmallVector<Value> RegionInliner::run(ArrayRef<Value> operands) {
  int index = propagation.getGraph().opIndex.lookup(region);
  const nn::FactorRule &rule = propagation.getGraph().ops[index].rule;
  for (auto [i, argument] : llvm::enumerate(region.getBody().getArguments())) {
    map.map(argument, operands[i]);
    for (int factor : rule.operands[i])
      outer[argument].dims.push_back(Atoms(propagation.factor(index, factor)));
  }
  for (Operation &each : region.getBody().front().without_terminator()) {
    if (auto offset = dyn_cast<OffsetOp>(each)) {
      builder.clone(each, map);
      continue;
    }
    passOn(&each);
    if (auto convert = dyn_cast<ConvertOp>(each)) {
      map.map(convert.getY(), transfer(convert));
      continue;
    }
    Operation *made = builder.clone(each, map);
    for (auto [inner, result] : llvm::zip(each.getResults(), made->getResults()))
      result.setType(localOf(inner));
    place(made, each.getResults());
  }
  return llvm::map_to_vector(region.getBody().front().getTerminator()->getOperands(),
                             [&](Value value) { return map.lookup(value); });
}

/// A region leaves its ops behind; each may be the last that a reshard of its result stands behind.
void Partitioner::partitionRegion(LocalOp region, ArrayRef<Value> operands) {
  Operation *before = region->getPrevNode();
  SmallVector<Value> returned = RegionInliner(region, propagation, atoms).run(operands);
  for (auto [result, value] : llvm::zip(region.getResults(), returned))
    locals[result] = value;
  Block *block = region->getBlock();
  for (Operation *made = before ? before->getNextNode() : &block->front(); made != region; made = made->getNextNode())
    tails.try_emplace(made, made);
  for (Value value : returned)
    tails.try_emplace(value.getDefiningOp(), value.getDefiningOp());
}
} // namespace hocket::dist
