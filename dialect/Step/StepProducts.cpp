// The verifier of step.gemm: the product, and what an epilogue reads and makes besides it.
#include "dialect/Step/StepWork.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

/// What the product reads or writes of one operand: rows x columns, leading dimension, batch times stride.
static LogicalResult verifyMatrix(GemmOp gemm, StringRef name, ShapedType type, int64_t rows, int64_t columns,
                                  unsigned index) {
  int64_t leading = gemm.getLeading()[index], stride = gemm.getStrides() ? (*gemm.getStrides())[index] : 0;
  int64_t batch = gemm.getBatch() ? static_cast<int64_t>(*gemm.getBatch()) : 1;
  if (leading < columns)
    return gemm.emitOpError() << "leading dimension of " << name << " is " << leading << ", expected at least its "
                              << columns << " columns";
  int64_t needed = 0;
  if (llvm::MulOverflow(rows - 1, leading, needed) || llvm::AddOverflow(needed, columns, needed) ||
      llvm::AddOverflow(needed, (batch - 1) * stride, needed) || needed > type.getNumElements())
    return gemm.emitOpError() << name << " of " << rows << " x " << columns << " (leading dimension " << leading
                              << ", batch " << batch << " with stride " << stride << ") exceeds " << type;
  return success();
}

/// A and B hold one float type of up to 32 bits, the result the same or f32.
static LogicalResult verifyElements(GemmOp gemm, ShapedType a, ShapedType b, ShapedType result) {
  Type of = a.getElementType(), made = result.getElementType();
  if (!of.isF32() && !of.isBF16() && !of.isF16())
    return gemm.emitOpError() << "multiplies " << of << ", expected f32, bf16 or f16";
  if (b.getElementType() != of)
    return gemm.emitOpError() << "multiplies " << of << " by " << b.getElementType() << ", expected one type";
  if (made != of && !made.isF32()) {
    InFlightDiagnostic error = gemm.emitOpError() << "makes " << made << " of " << of << ", expected f32";
    return of.isF32() ? error : error << " or " << of;
  }
  return success();
}

/// What an epilogue (StepEnums.td) reads besides the product's operands, and makes besides its result: a vector of so
/// many elements, or a matrix like the result.
namespace {
struct EpilogueForm {
  enum Kind { None, Vector, Matrix };
  Kind extra = None, second = None;
  int64_t extraSize = 0, secondSize = 0;
};
} // namespace

static EpilogueForm formOf(Epilogue epilogue, int64_t m, int64_t n) {
  switch (epilogue) {
  case Epilogue::Bias:
    return {EpilogueForm::Vector, EpilogueForm::None, n, 0};
  case Epilogue::Gelu:
    return {EpilogueForm::None, EpilogueForm::Matrix, 0, 0};
  case Epilogue::BiasGelu:
    return {EpilogueForm::Vector, EpilogueForm::Matrix, n, 0};
  case Epilogue::GeluGrad:
    return {EpilogueForm::Matrix, EpilogueForm::None, 0, 0};
  case Epilogue::SumA:
    return {EpilogueForm::None, EpilogueForm::Vector, 0, m};
  case Epilogue::SumB:
    return {EpilogueForm::None, EpilogueForm::Vector, 0, n};
  }
  return {};
}

/// One of them; of the result's element type.
static LogicalResult verifyPart(GemmOp gemm, StringRef does, EpilogueForm::Kind kind, int64_t size, Type part,
                                ShapedType result) {
  auto shaped = dyn_cast<ShapedType>(part);
  bool fits = kind == EpilogueForm::Matrix
                  ? part == result
                  : shaped && shaped.getElementType() == result.getElementType() && shaped.getNumElements() == size;
  if (fits)
    return success();
  InFlightDiagnostic error = gemm.emitOpError()
                             << stringifyEpilogue(*gemm.getEpilogue()) << ' ' << does << ' ' << part << ", expected ";
  if (kind == EpilogueForm::Matrix)
    return error << "the result's type " << result;
  return error << size << " elements of " << result.getElementType();
}

static LogicalResult verifyEpilogue(GemmOp gemm, ShapedType result, Type second) {
  if (!gemm.getEpilogue())
    return gemm.getExtra() ? gemm.emitOpError() << "has the operand of an epilogue and no epilogue" : success();
  Epilogue epilogue = *gemm.getEpilogue();
  StringRef name = stringifyEpilogue(epilogue);
  EpilogueForm form = formOf(epilogue, gemm.getMnk()[0], gemm.getMnk()[1]);
  bool sound = true;
  if (gemm.getBatch())
    sound &= succeeded(gemm.emitOpError() << "has a batch and the epilogue " << name << "; an epilogue has no batch");
  if (gemm.getC() && epilogue != Epilogue::SumA && epilogue != Epilogue::SumB)
    sound &= succeeded(gemm.emitOpError() << "has the epilogue " << name << " after add, expected sum_a or sum_b");
  bool takes = form.extra != EpilogueForm::None;
  if (takes != bool(gemm.getExtra()))
    sound &= succeeded(gemm.emitOpError()
                       << "has the epilogue " << name << (takes ? " without" : " with") << " an operand of its own");
  else if (takes)
    sound &= succeeded(verifyPart(gemm, "reads", form.extra, form.extraSize, gemm.getExtra().getType(), result));
  if (second)
    sound &= succeeded(verifyPart(gemm, "makes", form.second, form.secondSize, second, result));
  bool gelu = form.extra == EpilogueForm::Matrix || form.second == EpilogueForm::Matrix;
  if (gelu && gemm.getLeading()[2] % 8 != 0) // CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD
    sound &= succeeded(gemm.emitOpError() << "leading dimension of the result is " << gemm.getLeading()[2]
                                          << " with the epilogue " << name << ", expected a multiple of 8");
  return success(sound);
}

/// Its results, as tensors or as buffers; none (and an error) if they are more or fewer than the epilogue makes.
static SmallVector<Type> resultsOf(GemmOp gemm) {
  SmallVector<Type> types(gemm.getOuts().getTypes());
  llvm::append_range(types, gemm->getResultTypes());
  bool two = gemm.getEpilogue() && formOf(*gemm.getEpilogue(), 1, 1).second != EpilogueForm::None;
  if (types.size() == (two ? 2 : 1))
    return types;
  InFlightDiagnostic error = gemm.emitOpError()
                             << "makes " << types.size() << (types.size() == 1 ? " value" : " values") << ", expected "
                             << (two ? 2 : 1);
  if (two)
    error << " with the epilogue " << stringifyEpilogue(*gemm.getEpilogue());
  return {};
}

LogicalResult GemmOp::verify() {
  SmallVector<Value> inputs{getA(), getB()};
  for (Value input : {getC(), getExtra()})
    if (input)
      inputs.push_back(input);
  if (getMnk().size() != 3 || getLeading().size() != 3)
    return emitOpError() << "needs three sizes and three leading dimensions, has " << getMnk().size() << " and "
                         << getLeading().size();
  if (getBatch().has_value() != getStrides().has_value() || (getStrides() && getStrides()->size() != 3))
    return emitOpError() << "needs three strides with a batch, and none without";
  for (int64_t size : {getMnk()[0], getMnk()[1], getMnk()[2], static_cast<int64_t>(getBatch().value_or(1))})
    if (size < 1 || size > INT32_MAX)
      return emitOpError() << "has size " << size << ", expected 1 to " << INT32_MAX;
  SmallVector<Type> results = resultsOf(*this);
  if (results.empty() || failed(verifyForm(*this, inputs, getOuts())))
    return failure();
  auto result = cast<ShapedType>(results[0]);
  int64_t m = getMnk()[0], n = getMnk()[1], k = getMnk()[2];
  auto a = cast<ShapedType>(getA().getType()), b = cast<ShapedType>(getB().getType());
  bool sound = succeeded(verifyElements(*this, a, b, result));
  sound &= succeeded(verifyMatrix(*this, "a", a, getTransA() ? k : m, getTransA() ? m : k, 0));
  sound &= succeeded(verifyMatrix(*this, "b", b, getTransB() ? n : k, getTransB() ? k : n, 1));
  sound &= succeeded(verifyMatrix(*this, "the result", result, m, n, 2));
  if (getC() && getC().getType() != result)
    sound &= succeeded(emitOpError() << "adds " << getC().getType() << " to a result of type " << result);
  sound &= succeeded(verifyEpilogue(*this, result, results.size() > 1 ? results[1] : Type()));
  return success(sound);
}
