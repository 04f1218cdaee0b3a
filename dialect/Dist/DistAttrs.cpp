// Sharding and axes attributes: #dist.sharding<@cluster, [{"dp"}, {}, {"tp", ?}], partial={"pp"}>.
#include "dialect/Dist/AxesSyntax.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;
using namespace hocket::dist;

#define GET_ATTRDEF_CLASSES
#include "dialect/Dist/DistAttrs.cpp.inc"

void DistDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Dist/DistAttrs.cpp.inc"
      >();
}

//===- #dist.axes
//-------------------------------------------------------------------------------------------------------

Attribute AxesAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisRef> refs;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseAxisSet(parser, refs) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), refs);
}

void AxesAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printAxisSet(printer.getStream(), getRefs());
  printer << '>';
}

ParseResult hocket::dist::parseAxes(OpAsmParser &parser, AxesAttr &axes) {
  SmallVector<AxisRef> refs;
  std::string name;
  SMLoc loc = parser.getCurrentLocation();
  // One whole axis stands bare (a colon behind it belongs to the op); braces hold a list, and sub-axes.
  if (succeeded(parser.parseOptionalString(&name))) {
    refs.push_back({StringAttr::get(parser.getContext(), name)});
  } else if (failed(parser.parseOptionalLBrace())) {
    return parser.emitError(loc)
           << "expected a mesh axis in quotes, \"tp\", or several in braces, {\"pp\", \"tp\":(1)2}";
  } else if (failed(parser.parseOptionalRBrace())) {
    do
      if (parseAxisRef(parser, refs.emplace_back(), "a mesh axis in quotes, as in {\"pp\", \"dp\"}"))
        return failure();
    while (succeeded(parser.parseOptionalComma()));
    if (parser.parseRBrace())
      return failure();
  }
  axes = AxesAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), refs);
  return success(static_cast<bool>(axes));
}

static std::string refText(const AxisRef &ref) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printAxisRef(os, ref);
  return text;
}

LogicalResult AxesAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<AxisRef> refs) {
  for (auto [i, ref] : llvm::enumerate(refs)) {
    if (std::string fault = faultOf(ref); !fault.empty())
      return emitError() << fault;
    for (const AxisRef &earlier : refs.take_front(i))
      if (overlap(earlier, ref))
        return emitError() << "mesh axis " << refText(ref) << " is named twice"
                           << (earlier == ref ? "" : " (it overlaps with " + refText(earlier) + ")");
  }
  return success();
}

//===- #dist.sharding
//---------------------------------------------------------------------------------------------------

static ParseResult parsePartial(AsmParser &parser, SmallVectorImpl<AxisRef> &partial, Reduction &reduction) {
  if (parser.parseKeyword("partial") || parser.parseEqual())
    return failure();
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    std::optional<Reduction> known = symbolizeReduction(word);
    if (!known)
      return parser.emitError(loc) << "unknown reduction '" << word << "'; known: sum, max, min";
    reduction = *known;
  }
  return parseAxisSet(parser, partial);
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  StringAttr mesh;
  SmallVector<DimSharding> dims;
  SmallVector<AxisRef> partial;
  Reduction reduction = Reduction::Sum;
  SMLoc loc = parser.getCurrentLocation();
  auto parseDim = [&]() -> ParseResult {
    DimSharding dim;
    if (parseAxisSet(parser, dim.axes, &dim.open))
      return failure();
    dims.push_back(std::move(dim));
    return success();
  };
  if (parser.parseLess() || parser.parseSymbolName(mesh) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parsePartial(parser, partial, reduction))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), FlatSymbolRefAttr::get(mesh), dims,
                    partial, reduction);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  raw_ostream &os = printer.getStream();
  printer << '<' << getMesh() << ", [";
  llvm::interleaveComma(getDims(), os, [&](const DimSharding &dim) { printAxisSet(os, dim.axes, dim.open); });
  os << ']';
  if (isPartial()) {
    os << ", partial=";
    if (getReduction() != Reduction::Sum)
      os << stringifyReduction(getReduction());
    printAxisSet(os, getPartial());
  }
  os << '>';
}

LogicalResult ShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError, FlatSymbolRefAttr,
                                   ArrayRef<DimSharding> dims, ArrayRef<AxisRef> partial, Reduction) {
  SmallVector<std::pair<AxisRef, std::string>> used;
  auto use = [&](const AxisRef &ref, const std::string &how) -> LogicalResult {
    if (std::string fault = faultOf(ref); !fault.empty())
      return emitError() << fault;
    for (auto &[earlier, earlierHow] : used)
      if (overlap(earlier, ref))
        return emitError() << "mesh axis " << refText(ref) << ' ' << how << ", but "
                           << (earlier == ref ? std::string("it") : "mesh axis " + refText(earlier)) << ' '
                           << earlierHow << " already; an axis may be used once on a value";
    used.push_back({ref, how});
    return success();
  };
  for (auto [i, dim] : llvm::enumerate(dims))
    for (const AxisRef &ref : dim.axes)
      if (failed(use(ref, "splits dimension " + std::to_string(i))))
        return failure();
  for (const AxisRef &ref : partial)
    if (failed(use(ref, "is partial")))
      return failure();
  return success();
}

/// dims joined by `_`, `r` for whole; axes of one dimension by `-`; a sub-axis "tp":(1)2 is tp1x2: #dp_r_tp,
/// #r_r_sum_dp.
OpAsmAliasResult ShardingAttr::getAlias(raw_ostream &os) const {
  auto axis = [&](const AxisRef &ref) {
    os << ref.name.getValue();
    if (!ref.isWholeAxis())
      os << ref.pre << 'x' << ref.size;
  };
  if (getDims().empty())
    os << "scalar";
  for (auto [i, dim] : llvm::enumerate(getDims())) {
    os << (i ? "_" : "");
    if (dim.axes.empty())
      os << (dim.open ? "open" : "r");
    else
      llvm::interleave(dim.axes, os, axis, "-");
    if (dim.open && !dim.axes.empty())
      os << "-open";
  }
  if (isPartial()) {
    os << '_' << stringifyReduction(getReduction()) << '_';
    llvm::interleave(getPartial(), os, axis, "-");
  }
  return OpAsmAliasResult::FinalAlias;
}

int64_t ShardingAttr::getShardedRank() const { return getDims().size(); }

bool ShardingAttr::isWhole() const {
  return !isPartial() && llvm::all_of(getDims(), [](const DimSharding &dim) { return dim.axes.empty(); });
}

ShardingAttr ShardingAttr::whole(FlatSymbolRefAttr mesh, int64_t rank) {
  return get(mesh.getContext(), mesh, SmallVector<DimSharding>(rank), {}, Reduction::Sum);
}
ShardingAttr ShardingAttr::withoutPartial() const { return withPartial({}); }
ShardingAttr ShardingAttr::withPartial(ArrayRef<AxisRef> partial, Reduction reduction) const {
  // Without partial axes the reduction says nothing: one spelling for one meaning.
  return get(getContext(), getMesh(), getDims(), partial, partial.empty() ? Reduction::Sum : reduction);
}
ShardingAttr ShardingAttr::withDim(int64_t dim, ArrayRef<AxisRef> axes) const {
  SmallVector<DimSharding> dims(getDims());
  dims[dim].axes.assign(axes.begin(), axes.end());
  return get(getContext(), getMesh(), dims, getPartial(), getReduction());
}

//===- #dist.shard
//------------------------------------------------------------------------------------------------------

LogicalResult ShardAttr::verify(function_ref<InFlightDiagnostic()> emitError, RankedTensorType global,
                                ShardingAttr sharding) {
  if (global.getRank() != sharding.getShardedRank())
    return emitError() << "a shard of " << global << " needs a sharding of " << global.getRank()
                       << " dimensions, not of " << sharding.getShardedRank();
  return success();
}
int64_t ShardAttr::getShardedRank() const { return getSharding().getShardedRank(); }
