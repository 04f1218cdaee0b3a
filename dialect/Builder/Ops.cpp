// The mathematics: shapes of results, and ops. What is wrong with sizes is left to the ops' own verifiers, which name
// every fault; only where no shape of the result can be found is a fault told here.
#include "dialect/Builder/State.h"
#include "dialect/NN/Contraction.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

namespace hocket {
using namespace detail;
using llvm::SmallVector, llvm::StringRef;
using mlir::RankedTensorType;

/// `type` with another shape.
static RankedTensorType shaped(RankedTensorType type, llvm::ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, type.getElementType());
}

Tensor positions(Tensor tokens, Where where) {
  Use use(where, tokens);
  if (!use.sound())
    return use.unknown();
  auto type = RankedTensorType::get(use.tensorType(tokens).getShape(), use.builder.getI32Type());
  return use.make<nn::PositionsOp>(type, mlir::Value(), mlir::IntegerAttr(), mlir::IntegerAttr());
}

Tensor embedding(Tensor ids, Tensor table, Where where) {
  Use use(where, {ids, table});
  if (!use.sound())
    return use.unknown();
  RankedTensorType rows = use.tensorType(table);
  SmallVector<int64_t> shape(use.tensorType(ids).getShape());
  if (rows.getRank() > 1)
    llvm::append_range(shape, rows.getShape().drop_front());
  return use.make<nn::EmbeddingOp>(shaped(rows, shape), Access::value(ids), Access::value(table), mlir::Value());
}

// ---- products -------------------------------------------------------------------------------------------------------
static Tensor contracted(Tensor x, Tensor w, std::optional<int64_t> asked, const Where &where) {
  Use use(where, {x, w});
  if (!use.sound())
    return use.unknown();
  RankedTensorType xType = use.tensorType(x), wType = use.tensorType(w);
  int64_t dims = asked.value_or(xType.getRank() - 2), most = std::min(xType.getRank(), wType.getRank());
  if (dims < 1 || dims > most) {
    auto fault = use.fault() << "linear contracts " << dims << " dimensions of x, " << xType << ", with w, " << wType
                             << ", expected ";
    if (most < 1)
      fault << "tensors that have dimensions";
    else
      fault << "1 to " << most;
    if (!asked && most > 0)
      fault << " (all of x after batch and sequence, unless contract(…) is given)";
    return use.unknown();
  }
  SmallVector<int64_t> shape(xType.getShape().drop_back(dims));
  llvm::append_range(shape, wType.getShape().drop_front(dims));
  return use.make<nn::LinearOp>(shaped(xType, shape), Access::value(x), Access::value(w), /*transposed=*/false);
}

Tensor linear(Tensor x, Tensor w, Where where) { return contracted(x, w, std::nullopt, where); }
Tensor linear(Tensor x, Tensor w, Contract dims, Where where) { return contracted(x, w, dims.dims, where); }
Tensor linear(Tensor x, Tensor w, Tensor bias, Where where) { return add(linear(x, w, where), bias, where); }

Tensor linear(Tensor x, Transposed w, Where where) {
  Use use(where, {x, w.weight});
  if (!use.sound())
    return use.unknown();
  RankedTensorType xType = use.tensorType(x), wType = use.tensorType(w.weight);
  SmallVector<int64_t> shape(xType.getShape());
  if (!shape.empty() && wType.getRank() > 0)
    shape.back() = wType.getDimSize(0);
  return use.make<nn::LinearOp>(shaped(xType, shape), Access::value(x), Access::value(w.weight), /*transposed=*/true);
}

Tensor matmul(Tensor a, Tensor b, std::string_view rule, Where where) {
  Use use(where, {a, b});
  if (!use.sound())
    return use.unknown();
  for (const std::string &fault : nn::contractionFaults(rule))
    use.fault() << "matmul: " << fault;
  if (!use.sound())
    return use.unknown();
  auto [operands, result] = StringRef(rule).split("->");
  auto names = [](StringRef term) {
    SmallVector<StringRef> words;
    llvm::SplitString(term, words);
    return words;
  };
  llvm::StringMap<int64_t> sizes;
  auto [left, right] = operands.split(',');
  for (auto [operand, term] : {std::pair(a, left), std::pair(b, right)})
    for (auto [name, size] : llvm::zip(names(term), use.tensorType(operand).getShape()))
      sizes.try_emplace(name, size);
  SmallVector<int64_t> shape;
  for (StringRef name : names(result))
    if (name != "_")
      shape.push_back(sizes.try_emplace(name, 1).first->second);
  return use.make<nn::MatmulOp>(shaped(use.tensorType(a), shape), Access::value(a), Access::value(b), StringRef(rule));
}

// ---- norms, rotary positions, attention -----------------------------------------------------------------------------
Tensor layer_norm(Tensor x, Tensor gain, Tensor bias, double eps, Where where) {
  Use use(where, {x, gain, bias});
  if (!use.sound())
    return use.unknown();
  return use.make<nn::LayerNormOp>(use.type(x), Access::value(x), Access::value(gain), Access::value(bias),
                                   use.builder.getF64FloatAttr(eps));
}

Tensor rms_norm(Tensor x, Tensor gain, double eps, Where where) {
  Use use(where, {x, gain});
  if (!use.sound())
    return use.unknown();
  return use.make<nn::RmsNormOp>(use.type(x), Access::value(x), Access::value(gain), use.builder.getF64FloatAttr(eps));
}

static mlir::FloatAttr real(mlir::Builder &builder, const std::optional<double> &value) {
  return value ? builder.getF64FloatAttr(*value) : mlir::FloatAttr();
}
static mlir::IntegerAttr whole(mlir::Builder &builder, const std::optional<int64_t> &value) {
  return value ? builder.getI64IntegerAttr(*value) : mlir::IntegerAttr();
}

Tensor rope(Tensor x, Tensor positions, const Rope &options, Where where) {
  Use use(where, {x, positions});
  if (!use.sound())
    return use.unknown();
  mlir::Builder &builder = use.builder;
  return use.make<nn::RopeOp>(use.type(x), Access::value(x), Access::value(positions),
                              builder.getF64FloatAttr(options.theta), whole(builder, options.dims),
                              options.interleaved ? builder.getUnitAttr() : mlir::UnitAttr(),
                              real(builder, options.position_scale), mlir::UnitAttr());
}

Tensor attention(Tensor q, Tensor k, Tensor v, At at, const Attention &options, Where where) {
  SmallVector<Tensor> operands{q, k, v, at.queries, at.keys};
  llvm::append_range(operands, at.documents);
  Use use(where, operands);
  if (!use.sound())
    return use.unknown();
  mlir::Builder &builder = use.builder;
  RankedTensorType qType = use.tensorType(q), vType = use.tensorType(v);
  SmallVector<int64_t> shape(qType.getShape());
  double scale = options.scale.value_or(1);
  if (!shape.empty()) {
    if (!options.scale)
      scale = 1 / std::sqrt(static_cast<double>(shape.back()));
    if (vType.getRank() > 0)
      shape.back() = vType.getShape().back();
  }
  auto documents = llvm::map_to_vector(at.documents, [](Tensor each) { return Access::value(each); });
  auto mask = options.mask == Mask::causal ? nn::MaskKind::Causal : nn::MaskKind::Full;
  return use.make<nn::AttentionOp>(shaped(qType, shape), mlir::Type(), Access::value(q), Access::value(k),
                                   Access::value(v), Access::value(at.queries), Access::value(at.keys), documents,
                                   nn::MaskKindAttr::get(builder.getContext(), mask), builder.getF64FloatAttr(scale),
                                   whole(builder, options.window), real(builder, options.softcap), mlir::UnitAttr());
}

// ---- element by element ---------------------------------------------------------------------------------------------
template <typename OpT> static Tensor unary(Tensor x, const Where &where) {
  Use use(where, x);
  return use.sound() ? use.make<OpT>(use.type(x), Access::value(x)) : use.unknown();
}
template <typename OpT> static Tensor binary(Tensor a, Tensor b, const Where &where) {
  Use use(where, {a, b});
  return use.sound() ? use.make<OpT>(use.type(a), Access::value(a), Access::value(b)) : use.unknown();
}
Tensor gelu(Tensor x, Where where) { return unary<nn::GeluOp>(x, where); }
Tensor silu(Tensor x, Where where) { return unary<nn::SiluOp>(x, where); }
Tensor add(Tensor a, Tensor b, Where where) { return binary<nn::AddOp>(a, b, where); }
Tensor mul(Tensor a, Tensor b, Where where) { return binary<nn::MulOp>(a, b, where); }

// ---- slices and sums ------------------------------------------------------------------------------------------------
std::vector<Tensor> unstack(Tensor x, Dim dim, int64_t count) {
  Use use(dim.where, x);
  std::vector<Tensor> slices(std::max<int64_t>(count, 0), use.unknown());
  if (!use.sound())
    return slices;
  RankedTensorType type = use.tensorType(x);
  if (dim.index < 0 || dim.index >= type.getRank()) {
    auto fault = use.fault() << "unstack along dimension " << dim.index << " of " << type << ", expected ";
    if (type.getRank() == 0)
      fault << "a tensor that has dimensions";
    else
      fault << "0 to " << type.getRank() - 1;
    return slices;
  }
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim.index);
  SmallVector<mlir::Type> types(slices.size(), shaped(type, shape));
  auto op = nn::make<nn::UnstackOp>(use.builder, use.loc, mlir::TypeRange(types), Access::value(x),
                                    use.builder.getI64IntegerAttr(dim.index));
  for (auto [slice, value] : llvm::zip(slices, op.getYs()))
    slice = use.tensor(value);
  return slices;
}

Tensor detail::stack(Dim dim, const std::vector<Tensor> &tensors) {
  Use use(dim.where, tensors);
  if (!use.sound())
    return use.unknown();
  RankedTensorType type = use.tensorType(tensors.front());
  if (dim.index < 0 || dim.index > type.getRank()) {
    use.fault() << "stack along dimension " << dim.index << " of tensors of " << type.getRank()
                << " dimensions, expected 0 to " << type.getRank();
    return use.unknown();
  }
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + dim.index, static_cast<int64_t>(tensors.size()));
  SmallVector<mlir::Value> values;
  for (const Tensor &tensor : tensors)
    values.push_back(Access::value(tensor));
  return use.make<nn::StackOp>(shaped(type, shape), mlir::ValueRange(values), use.builder.getI64IntegerAttr(dim.index));
}

// ---- joins, pieces and repetitions
/// True if `dim` counts a dimension of x, or (`between`) a place between those of x; else a fault is told.
static bool isDimension(Use &use, StringRef op, Tensor x, Dim dim, bool between = false) {
  int64_t most = use.tensorType(x).getRank() - (between ? 0 : 1);
  if (dim.index >= 0 && dim.index <= most)
    return true;
  use.fault() << op << " along dimension " << dim.index << " of " << use.tensorType(x) << ", expected 0 to " << most;
  return false;
}
static mlir::IntegerAttr index(Use &use, int64_t value) { return use.builder.getI64IntegerAttr(value); }

Tensor detail::concat(Dim dim, const std::vector<Tensor> &tensors) {
  Use use(dim.where, tensors);
  if (!use.sound() || !isDimension(use, "concat", tensors.front(), dim))
    return use.unknown();
  SmallVector<int64_t> shape(use.tensorType(tensors.front()).getShape());
  SmallVector<mlir::Value> values;
  shape[dim.index] = 0;
  for (const Tensor &tensor : tensors) {
    RankedTensorType type = use.tensorType(tensor);
    shape[dim.index] += dim.index < type.getRank() ? type.getDimSize(static_cast<unsigned>(dim.index)) : 0;
    values.push_back(Access::value(tensor));
  }
  return use.make<nn::ConcatOp>(shaped(use.tensorType(tensors.front()), shape), mlir::ValueRange(values),
                                index(use, dim.index));
}

template <typename OpT> static Tensor piece(StringRef name, Tensor x, Dim dim, int64_t from, int64_t size) {
  Use use(dim.where, x);
  if (!use.sound() || !isDimension(use, name, x, dim))
    return use.unknown();
  SmallVector<int64_t> shape(use.tensorType(x).getShape());
  shape[dim.index] = size;
  return use.make<OpT>(shaped(use.tensorType(x), shape), Access::value(x), index(use, dim.index), index(use, from));
}
Tensor part(Tensor x, Dim dim, int64_t from, int64_t size) { return piece<nn::PartOp>("part", x, dim, from, size); }
Tensor pad(Tensor x, Dim dim, int64_t from, int64_t size) { return piece<nn::PadOp>("pad", x, dim, from, size); }

Tensor spread(Tensor x, Dim dim, int64_t count) {
  Use use(dim.where, x);
  if (!use.sound() || !isDimension(use, "spread", x, dim, /*between=*/true))
    return use.unknown();
  SmallVector<int64_t> shape(use.tensorType(x).getShape());
  shape.insert(shape.begin() + dim.index, count);
  return use.make<nn::SpreadOp>(shaped(use.tensorType(x), shape), Access::value(x), index(use, dim.index));
}

Tensor sum_over(Tensor x, Dim dim) {
  Use use(dim.where, x);
  if (!use.sound() || !isDimension(use, "sum_over", x, dim))
    return use.unknown();
  SmallVector<int64_t> shape(use.tensorType(x).getShape());
  shape.erase(shape.begin() + dim.index);
  return use.make<nn::SumOverOp>(shaped(use.tensorType(x), shape), Access::value(x), index(use, dim.index));
}

Tensor dropout(Tensor x, Tensor positions, double rate, Where where) {
  Use use(where, {x, positions});
  if (!use.sound())
    return use.unknown();
  return use.make<nn::DropoutOp>(use.type(x), Access::value(x), Access::value(positions),
                                 use.builder.getF64FloatAttr(rate), mlir::Value(), mlir::StringAttr(), mlir::Value(),
                                 mlir::DenseI64ArrayAttr(), mlir::ValueRange(), mlir::DenseI64ArrayAttr());
}

Tensor sum(Tensor x, int64_t leading, Where where) {
  Use use(where, x);
  if (!use.sound())
    return use.unknown();
  RankedTensorType type = use.tensorType(x);
  if (leading < 0 || leading > type.getRank()) {
    use.fault() << "sum over the first " << leading << " dimensions of " << type << ", expected 0 to "
                << type.getRank();
    return use.unknown();
  }
  return use.make<nn::SumOp>(shaped(type, type.getShape().drop_front(leading)), Access::value(x));
}

Loss cross_entropy(Tensor logits, Tensor labels, Where where) {
  Use use(where, {logits, labels});
  if (!use.sound())
    return {use.unknown(), use.unknown()};
  mlir::Builder &builder = use.builder;
  auto op = nn::make<nn::CrossEntropyOp>(use.builder, use.loc, RankedTensorType::get({}, builder.getF32Type()),
                                         RankedTensorType::get({}, builder.getI64Type()), mlir::Type(),
                                         Access::value(logits), Access::value(labels));
  return {use.tensor(op.getSum()), use.tensor(op.getCount())};
}
} // namespace hocket
