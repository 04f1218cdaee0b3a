// See GraphValues.h.
#include "passes/Codegen/CUDA/GraphValues.h"
using namespace mlir;

namespace hocket::cuda {
void GraphValues::beginRow(Value newRow) {
  row = newRow;
  rowValues.clear(), values.clear(), rows.clear(), prepared.clear();
}
void GraphValues::beginColumns(Value newColumn) {
  column = newColumn;
  values.clear();
}

SmallVector<Value> GraphValues::compute(Step *step, const Place &place, function_ref<Value(Ref)> operand) {
  SmallVector<Value> operands;
  for (Ref each : step->operands)
    operands.push_back(operand(each));
  return step->compute(e, place, operands);
}
const RowAccess &GraphValues::accessOf(Step *load) {
  auto known = rows.find(load);
  if (known == rows.end())
    known = rows.emplace(load, load->findRow(e, row)).first;
  return known->second;
}

Value GraphValues::ofRow(Ref ref) {
  if (auto known = rowValues.find(ref); known != rowValues.end())
    return known->second;
  auto made = compute(ref.step, Place{row, Value(), Value()}, [&](Ref operand) { return ofRow(operand); });
  for (auto [i, value] : llvm::enumerate(made))
    rowValues[{ref.step, static_cast<unsigned>(i)}] = value;
  return rowValues.at(ref);
}

void GraphValues::prepare(Ref ref) {
  Step *step = ref.step;
  if (!prepared.insert(ref).second)
    return;
  if (step->space == Space::Row) {
    ofRow(ref);
    return;
  }
  if (step->kind == Step::Load) {
    if (step->findRow)
      accessOf(step);
    return;
  }
  if (step->kind == Step::Map)
    for (Ref operand : step->operands)
      prepare(operand);
}

/// The lanes that an access reaches; null for all. `whole`: all lanes or none, and the value is an i1.
Value GraphValues::lanesWithin(const RowAccess &access, bool &whole) {
  whole = false;
  if (!access.limit)
    return {};
  whole = knownDivisor(access.limit) % e.lanes() == 0 && knownDivisor(column) % e.lanes() == 0;
  return whole ? e.compare(arith::CmpIPredicate::slt, column, access.limit)
               : e.lanesBelow(e.minus(access.limit, column));
}

Value GraphValues::full(Ref ref) {
  Step *step = ref.step;
  if (step->space == Space::Row)
    return ofRow(ref);
  if (auto known = values.find(ref); known != values.end())
    return known->second;
  if (step->kind == Step::Load) {
    const RowAccess &from = accessOf(step);
    bool whole;
    Value there = lanesWithin(from, whole), offset = e.plus(from.offset, column);
    return values[ref] = whole ? e.loadWhole(step->element, from.base, offset, there)
                               : e.loadVector(step->element, from.base, offset, there);
  }
  auto made = compute(step, Place{row, column, Value()}, [&](Ref operand) { return full(operand); });
  for (auto [i, value] : llvm::enumerate(made))
    values[{step, static_cast<unsigned>(i)}] = e.repeat(value);
  return values.at(ref);
}

Value GraphValues::ofColumn(Ref ref) {
  if (auto known = values.find(ref); known != values.end())
    return known->second;
  Step *step = ref.step;
  if (step->kind == Step::Load && step->space == Space::Column)
    return values[ref] = e.loadVector(step->element, step->base, column, Value());
  auto made = compute(step, Place{Value(), column, Value()}, [&](Ref operand) { return ofColumn(operand); });
  for (auto [i, value] : llvm::enumerate(made))
    values[{step, static_cast<unsigned>(i)}] = step->space == Space::Row ? value : e.repeat(value);
  return values.at(ref);
}

void GraphValues::store(const Output &output, Value value) {
  RowAccess to = output.findRow(e, row);
  bool whole;
  Value there = lanesWithin(to, whole), offset = e.plus(to.offset, column);
  if (whole)
    e.when(there, [&] { e.storeVector(output.element, value, to.base, offset, Value()); });
  else
    e.storeVector(output.element, value, to.base, offset, there);
}
} // namespace hocket::cuda
