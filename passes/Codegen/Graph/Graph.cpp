// See Graph.h.
#include "passes/Codegen/Graph/Graph.h"
using namespace mlir;

namespace hocket::codegen {

Graph::Graph(func::FuncOp kernel, const KernelShape &shape, ValueRange bufferValues, ValueRange scalarValues)
    : kernel(kernel), shape(shape) {
  size_t nextBuffer = 0, nextScalar = 0;
  for (Value argument : kernel.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      buffers[argument] = bufferValues[nextBuffer++];
    else
      scalars[argument] = scalarValues[nextScalar++];
  results.assign(bufferValues.begin() + nextBuffer, bufferValues.end());
}

LogicalResult Graph::build() {
  Block &body = kernel.getBody().front();
  for (Operation &op : body.without_terminator())
    if (failed(buildOp(&op)))
      return op.emitOpError("has no rule in a kernel over rows and columns");
  for (auto [value, buffer] : llvm::zip(body.getTerminator()->getOperands(), results)) {
    if (!refs.contains(value))
      continue; // a spread result, written by its rule
    Space space = shape.spaces.lookup(value);
    int64_t columns = shape.columns;
    Value base = buffer;
    output(refs[value], getElementTypeOrSelf(value), space, base,
           [=](Emit &e, Value row) { return RowAccess{base, e.times(row, columns), Value()}; });
  }
  return success();
}

LogicalResult Graph::buildOp(Operation *op) {
  for (auto *rule : {buildActivationRule, buildElementRule, buildNormRule, buildRowRule, buildMoveRule, buildJoinRule,
                     buildDropoutRule, buildOptimizerRule})
    if (succeeded(rule(*this, op)))
      return success();
  return failure();
}

bool Graph::hasRowReductions() const {
  return llvm::any_of(steps, [](const Step &step) { return step.kind == Step::Reduce; });
}
bool Graph::hasColumnSums() const {
  return llvm::any_of(steps, [](const Step &step) { return step.kind == Step::Sum; });
}

SmallVector<Value> Graph::resultBuffers(Value value) const {
  SmallVector<Value> found;
  func::FuncOp function = kernel;
  for (auto [returned, buffer] : llvm::zip(function.getBody().front().getTerminator()->getOperands(), results))
    if (returned == value)
      found.push_back(buffer);
  return found;
}

Step *Graph::make(Step::Kind kind, Space space) {
  Step &step = steps.emplace_back();
  step.kind = kind, step.space = space;
  return &step;
}

Ref Graph::map(Space space, ArrayRef<Ref> operands, Compute compute) {
  Step *step = make(Step::Map, space);
  step->operands.assign(operands.begin(), operands.end());
  step->compute = std::move(compute);
  for (Ref operand : operands)
    step->stage = std::max(step->stage, operand.step->stage);
  return {step, 0};
}
Ref Graph::map(Space space, ArrayRef<Ref> operands, std::function<Value(Emit &, ValueRange)> compute) {
  return map(space, operands, Compute([compute](Emit &e, const Place &, ValueRange values) {
               return SmallVector<Value>{compute(e, values)};
             }));
}
Ref Graph::reduce(Reduction kind, Ref full, Type element) {
  Step *step = make(Step::Reduce, Space::Row);
  step->operands = {full};
  step->reduction = kind;
  step->element = element;
  step->stage = full.step->stage + 1;
  return {step, 0};
}
Ref Graph::sum(Ref full, Type element) {
  Step *step = make(Step::Sum, Space::Column);
  step->operands = {full};
  step->element = element;
  step->stage = full.step->stage;
  return {step, 0};
}
void Graph::define(Value value, Ref ref) {
  Type element = getElementTypeOrSelf(value);
  bool exact = ref.step->kind == Step::Load && ref.step->element == element;
  if (isNarrow(element) && !exact) {
    ref = map(ref.step->space, {ref}, [=](Emit &e, ValueRange v) { return e.rounded(element, v[0]); });
    ref.step->rounds = true;
    ref.step->element = element;
    ref.step->cheap = ref.step->space == Space::Full;
  }
  refs[value] = ref;
}
void Graph::output(Ref value, Type element, Space space, Value base, FindRow findRow) {
  // A store rounds by itself, to the same bits. Where a later loop over the row reads what is rounded, both would be
  // kept.
  bool readAgain = hasRowReductions() && llvm::any_of(steps, [&](const Step &step) {
                     return llvm::any_of(step.operands, [&](Ref operand) { return operand.step == value.step; });
                   });
  if (value.step->rounds && value.step->element == element && !readAgain)
    value = value.step->operands[0];
  outputs.push_back({value, element, space, base, std::move(findRow)});
}
Ref Graph::loadRows(Type element, FindRow findRow) {
  Step *step = make(Step::Load, Space::Full);
  step->element = element;
  step->findRow = std::move(findRow);
  return {step, 0};
}
Ref Graph::loadOfRow(Type element, Compute compute) {
  Step *step = make(Step::Load, Space::Row);
  step->element = element;
  step->compute = std::move(compute);
  return {step, 0};
}

Ref Graph::read(Operation *op, unsigned operand) {
  Value value = op->getOperand(operand);
  if (refs.contains(value))
    return refs[value];
  return load(value, operandSpace(op, operand, shape).value_or(Space::Row));
}

Ref Graph::load(Value value, Space space) {
  Ref &known = loads[{value, static_cast<int>(space)}];
  if (known.step)
    return known;
  int64_t elements = elementsOf(value), columns = shape.columns;
  Type element = getElementTypeOrSelf(value);
  Value base = bufferOf(value);
  if (space == Space::Row || (elements == 1 && shape.elements() > 1)) {
    known = loadOfRow(element, [=](Emit &e, const Place &place, ValueRange) {
      Value index = elements == 1 ? e.i64(0) : e.modulo(place.row, elements);
      return SmallVector<Value>{e.load(element, base, index)};
    });
  } else if (space == Space::Full) {
    int64_t rows = elements / columns, all = shape.rows;
    known = loadRows(element, [=](Emit &e, Value row) {
      return RowAccess{base, e.times(rows == all ? row : e.modulo(row, rows), columns), Value()};
    });
  } else {
    Step *step = make(Step::Load, Space::Column);
    step->element = element;
    step->base = base;
    known = {step, 0};
  }
  return known;
}
} // namespace hocket::codegen
