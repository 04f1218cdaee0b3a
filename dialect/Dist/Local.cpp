// What manual regions and their converts must hold; the typing of ops stands in LocalChecks.cpp.
#include "dialect/Dist/LocalTypes.h"
using namespace mlir;
using namespace hocket::dist;
namespace nn = hocket::nn;

int64_t LocalOp::axisIndex(StringRef name) {
  for (auto [i, axis] : llvm::enumerate(getAxes().getAsRange<MeshAxisAttr>()))
    if (axis.getName() == name)
      return static_cast<int64_t>(i);
  return -1;
}

// ---- the op
/// Attributes of the kinds that all else relies on; only text in generic form can have others.
static LogicalResult checkAttributes(LocalOp op) {
  bool sound = true;
  for (auto [i, each] : llvm::enumerate(op.getAxes())) {
    auto axis = dyn_cast<MeshAxisAttr>(each);
    if (!axis || axis.getName().empty() || axis.getSize() < 1)
      sound = false, op.emitOpError() << "is over " << each << "; expected named axes of at least 1 rank";
    else if (op.axisIndex(axis.getName()) != static_cast<int64_t>(i))
      sound = false, op.emitOpError() << "is over \"" << axis.getName() << "\" twice";
  }
  if (op.getAxes().empty())
    sound = false, op.emitOpError() << "goes over no axis; at least one is needed";
  auto check = [&](ArrayAttr types, size_t count, StringRef what) {
    if (types.size() != count)
      sound = false, op.emitOpError() << "has " << types.size() << " local types for " << count << ' ' << what;
    for (Attribute each : types)
      if (auto type = dyn_cast<LocalTypeAttr>(each); !type || type.getAxes().size() != op.getAxes().size())
        sound = false, op.emitOpError() << "has the local type " << each << "; expected one for each of "
                                        << op.getAxes().size() << " axes";
  };
  check(op.getArgTypes(), op.getXs().size(), "operands");
  check(op.getResultTypesAttr(), op.getYs().size(), "results");
  int64_t kept = static_cast<int64_t>(op.getKept());
  if (kept < 0 || kept > static_cast<int64_t>(op.getYs().size()))
    sound = false, op.emitOpError() << "keeps " << kept << " results for the derivative, of " << op.getYs().size();
  return success(sound);
}

LogicalResult LocalOp::verify() {
  if (failed(checkAttributes(*this)))
    return failure();
  bool sound = true;
  auto check = [&](Value value, LocalTypeAttr types, const Twine &what) {
    std::string fault;
    if (failed(localTypeIn(getAxes(), cast<RankedTensorType>(value.getType()), types.getAxes(), fault)))
      sound = false, emitOpError() << what << ' ' << fault;
  };
  for (auto [i, x, types] : llvm::enumerate(getXs(), bodyArguments(*this))) {
    check(x, types, "operand " + Twine(i));
    for (const LocalType &type : types.getAxes())
      if (type.kind == LocalKind::Partial)
        sound = false, emitOpError() << "operand " << i
                                     << " is partial; what comes from outside is whole, so it may be replicated, "
                                        "invariant or varying";
  }
  size_t returned = getYs().size() - getKept();
  for (auto [i, y] : llvm::enumerate(getYs())) {
    auto types = cast<LocalTypeAttr>(getResultTypesAttr()[i]);
    check(y, types, "result " + Twine(i));
    for (const LocalType &type : types.getAxes())
      if (type.kind == LocalKind::Replicated && i < returned && hasGradient(y.getType()))
        sound = false,
        emitOpError() << "result " << i
                      << " is replicated; its gradient would be partial and has to come from outside, so "
                         "it may be invariant, varying or partial";
  }
  return success(sound);
}

// ---- the regions
namespace {
/// One region: its arguments, its ops, what it returns.
class RegionCheck {
public:
  RegionCheck(LocalOp op, Region &region, StringRef word) : op(op), region(region), word(word), typing(op, region) {}
  bool run(ArrayRef<LocalTypeAttr> arguments, ArrayRef<LocalTypeAttr> returned, ArrayRef<RankedTensorType> globals);
  bool argumentsFit(ArrayRef<LocalTypeAttr> arguments, ArrayRef<RankedTensorType> globals);

private:
  InFlightDiagnostic fault(Operation *at) {
    sound = false;
    return at->emitOpError();
  }
  void checkReturned(nn::ReturnOp last, unsigned index, LocalTypeAttr expected, RankedTensorType global);

  LocalOp op;
  Region &region;
  StringRef word;
  LocalTyping typing;
  bool sound = true;
};
} // namespace

bool RegionCheck::argumentsFit(ArrayRef<LocalTypeAttr> arguments, ArrayRef<RankedTensorType> globals) {
  if (region.getNumArguments() != arguments.size()) {
    fault(op) << "has " << region.getNumArguments() << " arguments in " << word << ", expected " << arguments.size();
    return false;
  }
  for (auto [i, argument] : llvm::enumerate(region.getArguments())) {
    std::string text;
    FailureOr<RankedTensorType> local = localTypeIn(op.getAxes(), globals[i], arguments[i].getAxes(), text);
    if (succeeded(local) && *local != argument.getType())
      fault(op) << "has argument " << i << " of " << word << " as " << argument.getType() << ", expected " << *local;
  }
  return sound;
}

void RegionCheck::checkReturned(nn::ReturnOp last, unsigned index, LocalTypeAttr expected, RankedTensorType global) {
  Value value = last.getValues()[index];
  std::string text;
  FailureOr<RankedTensorType> local = localTypeIn(op.getAxes(), global, expected.getAxes(), text);
  if (succeeded(local) && *local != value.getType())
    fault(last) << "returns " << value.getType() << " as value " << index << ", expected " << *local;
  const LocalTypes *found = typing.of(value);
  if (!found)
    return;
  for (auto [axis, is, wanted] : llvm::enumerate(*found, expected.getAxes())) {
    if (is == wanted)
      continue;
    InFlightDiagnostic diag = fault(last);
    diag << "returns value " << index << ' ' << hocket::dist::text(is) << " over \"" << op.axis(axis).getName()
         << "\", expected " << hocket::dist::text(wanted);
    if (auto by = transferBetween(is, wanted))
      diag << "; convert it before" << (*by == Transfer::Free ? "" : ", by " + stringifyTransfer(*by).str());
    diag.attachNote(value.getLoc()) << "made here";
  }
}

bool RegionCheck::run(ArrayRef<LocalTypeAttr> arguments, ArrayRef<LocalTypeAttr> returned,
                      ArrayRef<RankedTensorType> globals) {
  Block &block = region.front();
  auto last = block.empty() ? nn::ReturnOp() : dyn_cast<nn::ReturnOp>(block.back());
  if (!last) {
    fault(op) << "must end " << word << " in nn.return";
    return false;
  }
  sound &= typing.run(arguments, /*report=*/true);
  if (last.getValues().size() != returned.size())
    fault(last) << "returns " << last.getValues().size() << " values from " << word << ", expected " << returned.size();
  else
    for (auto [i, types] : llvm::enumerate(returned))
      checkReturned(last, static_cast<unsigned>(i), types, globals[i]);
  return sound;
}

static SmallVector<RankedTensorType> tensorTypes(ValueRange values) {
  return llvm::map_to_vector(values, [](Value value) { return cast<RankedTensorType>(value.getType()); });
}

/// Every convert of the backward is the transpose of one of the region, or one of the region again; and every one of
/// the region, of a float, has its transpose.
static bool checkTransposes(LocalOp op) {
  using Move = std::tuple<StringAttr, LocalTypeAttr, LocalTypeAttr>;
  SmallVector<std::pair<ConvertOp, Move>> forward;
  for (auto convert : op.getBody().getOps<ConvertOp>())
    if (hasGradient(convert.getX().getType()))
      forward.push_back(
          {convert, {convert.getAxisAttr(), gradientType(convert.getTo()), gradientType(convert.getFrom())}});
  SmallVector<ConvertOp> spare;
  SmallVector<bool> met(forward.size());
  for (auto convert : op.getBackward().getOps<ConvertOp>()) {
    Move move{convert.getAxisAttr(), convert.getFrom(), convert.getTo()};
    bool found = false;
    for (auto [i, wanted] : llvm::enumerate(forward))
      if (!found && !met[i] && wanted.second == move)
        met[i] = found = true;
    if (!found)
      spare.push_back(convert);
  }
  bool sound = true;
  for (ConvertOp convert : spare) {
    auto again = llvm::any_of(op.getBody().getOps<ConvertOp>(), [&](ConvertOp first) {
      return first.getAxis() == convert.getAxis() && first.getFrom() == convert.getFrom() &&
             first.getTo() == convert.getTo();
    });
    if (again)
      continue;
    sound = false;
    convert.emitOpError() << "is in the backward and is neither the transpose of a convert of the region nor one of "
                             "them again";
  }
  for (auto [i, wanted] : llvm::enumerate(forward)) {
    if (met[i])
      continue;
    sound = false;
    auto &[axis, from, to] = wanted.second;
    InFlightDiagnostic diag = wanted.first.emitOpError();
    diag << "has no transpose in the backward, which needs one more " << text(from.getAxes()[0]) << " to "
         << text(to.getAxes()[0]);
    if (auto by = transferBetween(from.getAxes()[0], to.getAxes()[0]); by && *by != Transfer::Free)
      diag << " by " << stringifyTransfer(*by);
    diag << " over " << axis;
  }
  return sound;
}

/// A region is looked at where each of its ops is sound by itself; others are told by their own verifiers.
static bool opsAreSound(Region &region) {
  ScopedDiagnosticHandler quiet(region.getContext(), [](Diagnostic &) { return success(); });
  return llvm::all_of(region.getOps(), [](Operation &each) {
    return succeeded(each.getName().verifyInvariants(&each)) && each.getNumSuccessors() == 0;
  });
}

LogicalResult LocalOp::verifyRegions() {
  SmallVector<LocalTypeAttr> arguments = bodyArguments(*this), gradients = backwardArguments(*this);
  SmallVector<RankedTensorType> operands = tensorTypes(getXs()), results = tensorTypes(getYs());
  RegionCheck body(*this, getBody(), "the region");
  bool fits = body.argumentsFit(arguments, operands);
  if (!fits || !opsAreSound(getBody()))
    return success(fits);
  bool sound = body.run(arguments, llvm::to_vector(getResultTypesAttr().getAsRange<LocalTypeAttr>()), results);
  if (getBackward().empty())
    return success(sound);
  SmallVector<LocalTypeAttr> returned;
  SmallVector<RankedTensorType> given(operands), returnedTypes;
  for (RankedTensorType type : results)
    if (hasGradient(type))
      given.push_back(type);
  for (auto [type, types] : llvm::zip(operands, arguments))
    if (hasGradient(type)) {
      returned.push_back(gradientType(types));
      returnedTypes.push_back(type);
    }
  RegionCheck back(*this, getBackward(), "the backward");
  fits = back.argumentsFit(gradients, given);
  if (!fits || !opsAreSound(getBackward()))
    return success(fits && sound);
  sound &= back.run(gradients, returned, returnedTypes);
  return success(checkTransposes(*this) && sound);
}

void LocalOp::retype(llvm::function_ref<RankedTensorType(RankedTensorType)> of) {
  auto change = [&](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      value.setType(of(type));
  };
  for (Region &region : (*this)->getRegions())
    for (Block &block : region) {
      llvm::for_each(block.getArguments(), change);
      for (Operation &each : block)
        llvm::for_each(each.getResults(), change);
    }
}

// ---- convert
static bool scaled(Operation *op, SmallVectorImpl<int64_t> &shape, int64_t dim, int64_t ranks, bool gathers) {
  if (dim < 0 || dim >= static_cast<int64_t>(shape.size())) {
    op->emitOpError() << "speaks of dimension " << dim << " of a value of " << shape.size() << " dimensions; allowed: "
                      << (shape.empty() ? std::string("none") : "0 to " + std::to_string(shape.size() - 1));
    return false;
  }
  if (ShapedType::isDynamic(shape[dim])) {
    op->emitOpError() << "speaks of dimension " << dim << ", the batch, which the plan splits";
    return false;
  }
  if (!gathers && shape[dim] % ranks != 0) {
    op->emitOpError() << "splits dimension " << dim << " of " << shape[dim] << " elements over " << ranks
                      << " ranks; shards of a region are even";
    return false;
  }
  shape[dim] = gathers ? shape[dim] * ranks : shape[dim] / ranks;
  return true;
}

LogicalResult ConvertOp::verify() {
  if (getFrom().getAxes().size() != 1 || getTo().getAxes().size() != 1)
    return emitOpError() << "changes the local type along one axis, so `from` and `to` are one local type each";
  LocalType from = getFrom().getAxes().front(), to = getTo().getAxes().front();
  std::optional<Transfer> needed = transferBetween(from, to);
  if (!needed) {
    InFlightDiagnostic diag = emitOpError()
                              << "cannot make " << text(from) << ' ' << text(to) << "; from "
                              << stringifyLocalKind(from.kind) << " it may go: " << transfersFrom(from.kind);
    if (from.kind == LocalKind::Replicated)
      diag << " (its gradient is partial, and would have to be made from a whole one: start from an invariant value)";
    return diag;
  }
  if (*needed != getBy())
    return emitOpError() << "makes " << text(from) << ' ' << text(to)
                         << (getBy() == Transfer::Free ? " for free" : " by " + stringifyTransfer(getBy()).str())
                         << (*needed == Transfer::Free ? "; that is free"
                                                       : "; that is by " + stringifyTransfer(*needed).str());
  auto region = cast<LocalOp>((*this)->getParentOp());
  if (failed(checkAttributes(region)))
    return failure();
  int64_t axis = region.axisIndex(getAxis());
  if (axis < 0) {
    std::string known;
    for (auto each : region.getAxes().getAsRange<MeshAxisAttr>())
      known += (known.empty() ? "\"" : ", \"") + each.getName().str() + "\"";
    return emitOpError() << "is over \"" << getAxis() << "\", which is no axis of the region (its axes: " << known
                         << ")";
  }
  int64_t ranks = region.axis(static_cast<size_t>(axis)).getSize();
  SmallVector<int64_t> shape(getX().getType().getShape());
  if (from.kind == LocalKind::Varying && !scaled(*this, shape, from.dim, ranks, /*gathers=*/true))
    return failure();
  if (to.kind == LocalKind::Varying && !scaled(*this, shape, to.dim, ranks, /*gathers=*/false))
    return failure();
  auto expected = RankedTensorType::get(shape, getX().getType().getElementType());
  if (getY().getType() != expected)
    return emitOpError() << "makes " << getY().getType() << " of " << getX().getType() << ", expected " << expected;
  return success();
}
