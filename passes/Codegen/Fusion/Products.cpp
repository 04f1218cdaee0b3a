// See Products.h. Each operand of a product is a tensor of up to three groups of dimensions: batch, rows or columns,
// and contracted; a group is one index with one stride.
#include "passes/Codegen/Fusion/Products.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;
using namespace hocket::nn;

namespace hocket::codegen {
namespace {
enum Group { Batch, Left, Right, Contracted, groupCount };

/// Extent and stride of each group in one tensor; stride 0 where the tensor does not have it.
struct Term {
  int64_t extent[groupCount] = {1, 1, 1, 1}, stride[groupCount] = {0, 0, 0, 0};
};

using Names = SmallVector<StringRef>;

Names namesOf(StringRef term) {
  Names names;
  term.split(names, ' ', -1, /*KeepEmpty=*/false);
  return names;
}

/// Fails if the dimensions of a group do not stand together, so that they are no single index.
FailureOr<Term> termOf(Value tensor, ArrayRef<StringRef> names, function_ref<Group(StringRef)> groupOf) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  Term term;
  int64_t stride = 1;
  for (size_t i = names.size(); i-- > 0;) {
    Group group = groupOf(names[i]);
    if (shape[i] == 1)
      continue;
    if (term.stride[group] == 0)
      term.stride[group] = stride;
    else if (term.stride[group] * term.extent[group] != stride)
      return failure();
    term.extent[group] *= shape[i];
    stride *= shape[i];
  }
  return term;
}

/// One matrix as BLAS sees it: rows x columns, or stored the other way around. False if neither index has stride 1.
bool asMatrix(const Term &term, Group rows, Group columns, bool &transposed, int64_t &leading) {
  auto side = [&](Group inner, Group outer) {
    if (term.extent[inner] > 1 && term.stride[inner] != 1)
      return false;
    leading = std::max({term.stride[outer], term.extent[inner], int64_t(1)});
    return true;
  };
  transposed = false;
  if (side(columns, rows))
    return true;
  transposed = true;
  return side(rows, columns);
}

std::optional<ProductShape> shapeOf(const Term &a, const Term &b, const Term &y) {
  ProductShape shape;
  bool transposed = false;
  // the result decides: its inner index is the columns
  bool rowsFirst = asMatrix(y, Left, Right, transposed, shape.leading[2]) && !transposed;
  if (!rowsFirst) {
    if (!asMatrix(y, Right, Left, transposed, shape.leading[2]) || transposed)
      return std::nullopt;
    shape.swapped = true;
  }
  Group rows = shape.swapped ? Right : Left, columns = shape.swapped ? Left : Right;
  const Term &first = shape.swapped ? b : a, &second = shape.swapped ? a : b;
  if (!asMatrix(first, rows, Contracted, shape.transA, shape.leading[0]) ||
      !asMatrix(second, Contracted, columns, shape.transB, shape.leading[1]))
    return std::nullopt;
  shape.m = first.extent[rows], shape.n = second.extent[columns], shape.k = first.extent[Contracted];
  shape.batch = y.extent[Batch];
  shape.strides[0] = first.stride[Batch], shape.strides[1] = second.stride[Batch], shape.strides[2] = y.stride[Batch];
  return shape;
}

/// The names of every dimension of x, w and y, as matmul writes them.
std::string ruleOf(LinearOp op) {
  int64_t x = op.getX().getType().getRank(), w = op.getW().getType().getRank(), y = op.getY().getType().getRank();
  int64_t k = (x + w - y) / 2;
  std::string left = factorNames("m", x - k), contracted = factorNames("k", k), right = factorNames("n", w - k);
  std::string weight = op.getTransposed() ? right + " " + contracted : contracted + " " + right;
  return left + " " + contracted + ", " + weight + " -> " + left + " " + right;
}

/// The accumulator that a product may be added to: `add` of the product and a loaded tensor, and nothing else uses it.
/// Of 16 bits it may not: the add takes a rounded product.
AddOp accumulation(Value product) {
  if (!product.hasOneUse() || !getElementTypeOrSelf(product.getType()).isF32())
    return {};
  auto add = dyn_cast<AddOp>(*product.getUsers().begin());
  if (!add || add.getA().getType() != add.getB().getType())
    return {};
  Value other = add.getA() == product ? add.getB() : add.getA();
  auto load = other.getDefiningOp<step::LoadOp>();
  return load && other != product ? add : AddOp();
}

LogicalResult lowerProduct(Operation *op) {
  FailureOr<ProductShape> shape = productShape(op);
  if (failed(shape))
    return failure();
  Value product = op->getResult(0), accumulator;
  AddOp add = accumulation(product);
  OpBuilder builder(op);
  if (add) {
    accumulator = add.getA() == product ? add.getB() : add.getA();
    builder.setInsertionPoint(add);
  }
  auto batch = shape->batch > 1 ? builder.getI64IntegerAttr(shape->batch) : IntegerAttr();
  auto strides = shape->batch > 1 ? builder.getDenseI64ArrayAttr(shape->strides) : DenseI64ArrayAttr();
  auto gemm =
      step::GemmOp::create(builder, op->getLoc(), TypeRange(product.getType()), op->getOperand(shape->swapped),
                           op->getOperand(!shape->swapped), accumulator, Value(), ValueRange(), step::EpilogueAttr(),
                           shape->transA, shape->transB, builder.getDenseI64ArrayAttr({shape->m, shape->n, shape->k}),
                           builder.getDenseI64ArrayAttr(shape->leading), batch, strides,
                           op->getAttrOfType<StringAttr>("path"), op->getAttrOfType<PhaseAttr>("phase"), ArrayAttr());
  setShardings(gemm, getSharding(cast<OpResult>(add ? add->getResult(0) : product)));
  (add ? add->getResult(0) : product).replaceAllUsesWith(gemm.getResult(0));
  if (add)
    add.erase();
  op->erase();
  return success();
}
} // namespace

FailureOr<ProductShape> productShape(Operation *op) {
  std::string rule = TypeSwitch<Operation *, std::string>(op)
                         .Case([](LinearOp linear) { return ruleOf(linear); })
                         .Case([](MatmulOp matmul) { return matmul.getRule().str(); })
                         .Default([](Operation *) { return "b s h, h e -> b s e"; }); // router_logits
  auto [operands, result] = StringRef(rule).split("->");
  auto [first, second] = operands.split(",");
  Names a = namesOf(first), b = namesOf(second), y = namesOf(result);
  auto has = [](const Names &names, StringRef name) { return llvm::is_contained(names, name); };
  auto groupOf = [&](StringRef name) {
    if (!has(y, name))
      return Contracted;
    return has(a, name) && has(b, name) ? Batch : has(a, name) ? Left : Right;
  };
  auto termA = termOf(op->getOperand(0), a, groupOf), termB = termOf(op->getOperand(1), b, groupOf),
       termY = termOf(op->getResult(0), y, groupOf);
  std::optional<ProductShape> shape;
  if (succeeded(termA) && succeeded(termB) && succeeded(termY))
    shape = shapeOf(*termA, *termB, *termY);
  if (!shape)
    return op->emitOpError("with rule '")
           << rule
           << "' is no single matrix product: in each tensor the batch, the rows, "
              "the columns and the contracted dimensions must stand together, and the batch "
              "not last";
  return *shape;
}

LogicalResult lowerProducts(step::BodyOp body) {
  SmallVector<Operation *> products;
  for (Operation &op : body.getBody().front())
    if (isa<LinearOp, MatmulOp, RouterLogitsOp>(op))
      products.push_back(&op);
  bool sound = true;
  for (Operation *op : products)
    sound &= succeeded(lowerProduct(op));
  return success(sound);
}
} // namespace hocket::codegen
