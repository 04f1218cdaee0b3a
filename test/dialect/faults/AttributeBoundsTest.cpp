// Case G07: whatever number or axis stands in an attribute, a verifier answers with a sentence and never with a crash.
#include "dialect/Dist/Dist.h"
#include "test/dialect/faults/Corpus.h"
#include <gtest/gtest.h>
#include <limits>
using namespace mlir;
using namespace hocket;
using namespace hocket::testing;

namespace {
constexpr int64_t numbers[] = {-1,
                               5,
                               64,
                               std::numeric_limits<int64_t>::max(),
                               std::numeric_limits<int64_t>::min(),
                               0,
                               -7,
                               1000000007,
                               int64_t(1) << 32};

/// Other values of the kind of `old`: numbers out of bounds, axes that no mesh has.
SmallVector<Attribute> othersOf(Attribute old) {
  MLIRContext *context = old.getContext();
  SmallVector<Attribute> others;
  if (auto number = dyn_cast<IntegerAttr>(old); number && number.getType().isInteger(64))
    for (int64_t value : numbers)
      others.push_back(IntegerAttr::get(number.getType(), value));
  if (auto list = dyn_cast<DenseI64ArrayAttr>(old))
    for (int64_t value : numbers) {
      SmallVector<int64_t> values(list.asArrayRef());
      values.push_back(value);
      others.push_back(DenseI64ArrayAttr::get(context, values));
      others.push_back(DenseI64ArrayAttr::get(context, value));
    }
  if (isa<dist::AxesAttr>(old)) {
    others.push_back(dist::AxesAttr::get(context, ArrayRef<dist::AxisRef>()));
    others.push_back(dist::AxesAttr::get(context, dist::AxisRef{StringAttr::get(context, "nowhere")}));
    others.push_back(dist::AxesAttr::get(context, dist::AxisRef{StringAttr::get(context, "tp"), 3, 5}));
  }
  if (auto type = dyn_cast<dist::LocalTypeAttr>(old))
    for (int64_t value : numbers) {
      SmallVector<dist::LocalType> types(type.getAxes().size(), {dist::LocalKind::Varying, value});
      others.push_back(dist::LocalTypeAttr::get(context, types));
    }
  if (auto list = dyn_cast<ArrayAttr>(old); list && !list.empty()) {
    others.push_back(ArrayAttr::get(context, {}));
    for (Attribute other : othersOf(list[0])) {
      SmallVector<Attribute> all(list.begin(), list.end());
      all[0] = other;
      others.push_back(ArrayAttr::get(context, all));
    }
  }
  return others;
}
} // namespace

TEST(AttributeBounds, NoNumberAndNoAxisCrashesAVerifier) {
  QuietContext context;
  int64_t changed = 0, refused = 0;
  for (const Piece &piece : pieces(/*invalid=*/false)) {
    OwningOpRef<ModuleOp> module = context.parse(piece.text);
    if (!module)
      continue;
    SmallVector<Operation *> ops;
    module->walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      for (NamedAttribute named : op->getAttrDictionary())
        for (Attribute other : othersOf(named.getValue())) {
          std::string what =
              piece.file + ": " + op->getName().getStringRef().str() + " with " + named.getName().str() + " = ";
          llvm::raw_string_ostream(what) << other;
          workingOn(what);
          op->setAttr(named.getName(), other);
          ++changed;
          refused += failed(op->getName().verifyInvariants(op)) || !QuietContext::examine(*module);
          op->setAttr(named.getName(), named.getValue());
        }
  }
  EXPECT_GT(changed, 2000);
  EXPECT_GT(refused, changed / 4);
  RecordProperty("changed", static_cast<int>(changed));
  RecordProperty("refused", static_cast<int>(refused));
}
