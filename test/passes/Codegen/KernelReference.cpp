// See KernelTesting.h.
#include "KernelTesting.h"
#include "dialect/NN/Rounding.h"
#include "dialect/Step/Step.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "runtime/Comm/Half.h"
#include <cmath>
#include <cstring>
using namespace mlir;

namespace hocket::codegen::testing {
namespace {
constexpr size_t guardBytes = 256;
constexpr uint8_t guardByte = 0xa5;
size_t sizeOf(RankedTensorType type) { return type.getNumElements() * type.getElementTypeBitWidth() / 8; }

template <typename T> void write(HostBuffer &buffer, const HostTensor &values) {
  for (int64_t i = 0; i < values.size(); ++i) {
    T value = static_cast<T>(values[i]);
    std::memcpy(buffer.bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
}
template <typename T> void read(const HostBuffer &buffer, HostTensor &values) {
  for (int64_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, buffer.bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
}

bool isNarrow(Type element) { return element.isBF16() || element.isF16(); }
uint16_t narrowBits(Type element, double value) {
  auto single = static_cast<float>(nn::roundedTo(element, value));
  return element.isBF16() ? runtime::toBFloat16(single).bits : runtime::toFloat16(single).bits;
}
double narrowValue(Type element, uint16_t bits) {
  return element.isBF16() ? runtime::toFloat(runtime::BFloat16{bits}) : runtime::toFloat(runtime::Float16{bits});
}

/// What step's data-movement ops mean, by loops over [A, n, B].
HostTensor moved(Operation *op, ArrayRef<const HostTensor *> operands) {
  const HostTensor &x = *operands[0];
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  HostTensor y(type.getShape());
  auto at = [](const HostTensor &t, int64_t dim) {
    return std::tuple(t.extent(0, dim), t.shape[dim], t.extent(dim + 1, t.rank()));
  };
  if (auto pack = dyn_cast<step::PackOp>(op)) {
    auto [a, n, b] = at(x, pack.getDim());
    int64_t c = y.shape[pack.getDim() + 1];
    for (int64_t i = 0; i < y.size(); ++i) {
      int64_t inner = i % b, k = i / b % c, outer = i / (b * c) % a, piece = i / (b * c * a);
      int64_t index = piece * c + k;
      y[i] = index < n ? x[(outer * n + index) * b + inner] : 0;
    }
  } else if (auto unpack = dyn_cast<step::UnpackOp>(op)) {
    auto [a, n, b] = at(y, unpack.getDim());
    int64_t c = x.shape[unpack.getDim() + 1];
    for (int64_t i = 0; i < y.size(); ++i) {
      int64_t inner = i % b, index = i / b % n, outer = i / (b * n);
      y[i] = x[((index / c * a + outer) * c + index % c) * b + inner];
    }
  } else if (auto place = dyn_cast<step::PlaceOp>(op)) {
    int64_t pieces = static_cast<int64_t>(place.getPieces()), own = x.size() / pieces, all = y.size() / pieces;
    for (int64_t i = 0; i < x.size(); ++i)
      y[i / own * all + static_cast<int64_t>(place.getFirst()) + i % own] = x[i];
  } else if (auto part = dyn_cast<step::PartOp>(op)) {
    int64_t pieces = static_cast<int64_t>(part.getPieces()), own = y.size() / pieces, all = x.size() / pieces;
    for (int64_t i = 0; i < y.size(); ++i)
      y[i] = x[i / own * all + static_cast<int64_t>(part.getFirst()) + i % own];
  } else if (auto slice = dyn_cast<step::SliceOp>(op)) {
    auto [a, n, b] = at(x, slice.getDim());
    int64_t m = y.shape[slice.getDim()], offset = static_cast<int64_t>((*operands[1])[0]);
    for (int64_t i = 0; i < y.size(); ++i) {
      int64_t index = offset + i / b % m;
      y[i] = index < n ? x[(i / (b * m) * n + index) * b + i % b] : 0;
    }
  } else {
    auto mask = cast<step::MaskOp>(op);
    auto [a, n, b] = at(x, mask.getDim());
    for (int64_t i = 0; i < y.size(); ++i)
      y[i] = i / b % n < (*operands[1])[0] ? x[i] : mask.getValue().convertToDouble();
  }
  return y;
}
} // namespace

HostBuffer::HostBuffer(RankedTensorType type) : type(type), bytes(sizeOf(type) + guardBytes, guardByte) {}
HostBuffer::HostBuffer(RankedTensorType type, const HostTensor &values) : HostBuffer(type) {
  Type element = type.getElementType();
  if (isNarrow(element)) {
    for (int64_t i = 0; i < values.size(); ++i) {
      uint16_t word = narrowBits(element, values[i]);
      std::memcpy(bytes.data() + i * sizeof word, &word, sizeof word);
    }
  } else if (element.isF32()) {
    write<float>(*this, values);
  } else if (element.isInteger(32)) {
    write<int32_t>(*this, values);
  } else {
    write<int64_t>(*this, values);
  }
}
HostTensor HostBuffer::values() const {
  HostTensor values(type.getShape());
  Type element = type.getElementType();
  if (isNarrow(element)) {
    for (int64_t i = 0; i < values.size(); ++i) {
      uint16_t word;
      std::memcpy(&word, bytes.data() + i * sizeof word, sizeof word);
      values[i] = narrowValue(element, word);
    }
  } else if (element.isF32()) {
    read<float>(*this, values);
  } else if (element.isInteger(32)) {
    read<int32_t>(*this, values);
  } else {
    read<int64_t>(*this, values);
  }
  return values;
}
bool HostBuffer::guardHolds() const {
  return std::all_of(bytes.end() - guardBytes, bytes.end(), [](uint8_t byte) { return byte == guardByte; });
}

Kernels::Kernels(const std::string &text, llvm::StringRef march) : context(std::make_unique<MLIRContext>()) {
  context->loadDialect<step::StepDialect, nn::NNDialect, dist::DistDialect, func::FuncDialect, arith::ArithDialect,
                       math::MathDialect>();
  module = parseSourceString<ModuleOp>(text, context.get());
  if (module)
    machine = Machine::compile(*module, march);
}
Kernels::~Kernels() = default;

func::FuncOp Kernels::function(llvm::StringRef name) { return module->lookupSymbol<func::FuncOp>(name); }

std::vector<HostBuffer> Kernels::run(llvm::StringRef name, const std::vector<HostBuffer> &inputs,
                                     const std::vector<int64_t> &numbers, int pieces, ArrayRef<int64_t> inPlace) {
  std::vector<HostBuffer> operands = inputs, results;
  for (Type type : function(name).getResultTypes())
    results.emplace_back(cast<RankedTensorType>(type));
  std::vector<HostBuffer *> buffers;
  for (HostBuffer &operand : operands)
    buffers.push_back(&operand);
  for (HostBuffer &result : results)
    buffers.push_back(&result);
  for (size_t i = 0; i + 1 < inPlace.size(); i += 2)
    buffers[operands.size() + inPlace[i]] = &operands[inPlace[i + 1]];
  machine->run(function(name), buffers, numbers, pieces);
  for (size_t i = 0; i + 1 < inPlace.size(); i += 2)
    results[inPlace[i]] = operands[inPlace[i + 1]];
  for (const HostBuffer &operand : operands)
    EXPECT_TRUE(operand.guardHolds()) << "an operand was written beyond its end";
  return results;
}

std::vector<HostTensor> Kernels::reference(llvm::StringRef name, const std::vector<HostBuffer> &inputs,
                                           const std::vector<int64_t> &numbers, bool exact) {
  std::vector<HostTensor> tensors;
  for (const HostBuffer &input : inputs)
    tensors.push_back(input.values());
  return evaluateKernel(function(name), tensors, numbers, exact);
}

std::vector<HostTensor> evaluateKernel(func::FuncOp kernel, const std::vector<HostTensor> &tensors,
                                       const std::vector<int64_t> &numbers, bool exact) {
  llvm::DenseMap<Value, HostTensor> values;
  size_t tensor = 0, number = 0;
  for (Value argument : kernel.getArguments()) {
    if (isa<RankedTensorType>(argument.getType()))
      values[argument] = tensors[tensor++];
    else
      values[argument] = HostTensor({}, static_cast<double>(numbers[number++]));
  }
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    SmallVector<const HostTensor *> operands;
    for (Value operand : op.getOperands())
      operands.push_back(&values[operand]);
    SmallVector<HostTensor> results;
    for (Value result : op.getResults())
      results.emplace_back(cast<RankedTensorType>(result.getType()).getShape(), std::nan(""));
    if (auto meaning = dyn_cast<nn::ReferenceOpInterface>(op))
      meaning.evaluate(operands, results);
    else
      results[0] = moved(&op, operands);
    for (auto [result, value] : llvm::zip(op.getResults(), results)) {
      if (!exact)
        nn::roundTo(result.getType(), value);
      values[result] = std::move(value);
    }
  }
  std::vector<HostTensor> results;
  for (Value result : kernel.getBody().front().getTerminator()->getOperands())
    results.push_back(values[result]);
  return results;
}

double relativeError(const HostTensor &a, const HostTensor &b) {
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < b.size(); ++i) {
    if (a[i] == b[i])
      continue; // also equal infinities
    if (!std::isfinite(a[i]) || !std::isfinite(b[i]))
      return INFINITY;
    difference += (a[i] - b[i]) * (a[i] - b[i]);
  }
  for (double value : b.data)
    if (std::isfinite(value))
      norm += value * value;
  return std::sqrt(difference / (norm > 0 ? norm : 1));
}

bool nextTo(Type element, const HostTensor &a, const HostTensor &b, double absolute) {
  // the order of numbers is that of their bits, read as sign and magnitude
  auto place = [&](double value) {
    uint16_t bits = narrowBits(element, value);
    return bits & 0x8000 ? -(bits & 0x7fff) : bits;
  };
  for (int64_t i = 0; i < b.size(); ++i)
    if (std::abs(place(a[i]) - place(b[i])) > 1 && !(std::fabs(a[i] - b[i]) <= absolute)) {
      ADD_FAILURE() << "element " << i << " is " << a[i] << ", expected " << b[i] << " or a neighbour";
      return false;
    }
  return true;
}

double reductionTolerance(llvm::StringRef element) { return element == "bf16" ? 4e-3 : element == "f16" ? 5e-4 : 1e-5; }

std::vector<HostBuffer> randomInputs(func::FuncOp function, const Check &check) {
  std::mt19937 random(17);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0.01, 1);
  std::uniform_int_distribution<int64_t> ids(-1, check.ids - 1);
  std::vector<HostBuffer> inputs;
  for (Type type : function.getArgumentTypes()) {
    auto tensorType = dyn_cast<RankedTensorType>(type);
    if (!tensorType)
      continue;
    HostTensor values(tensorType.getShape());
    for (double &value : values.data)
      value = tensorType.getElementType().isInteger() ? static_cast<double>(ids(random))
              : check.positive                        ? uniform(random)
                                                      : normal(random);
    inputs.emplace_back(tensorType, values);
  }
  return inputs;
}

void checkKernel(const std::string &text, const Check &check) {
  SCOPED_TRACE(text);
  Kernels kernels(text);
  ASSERT_TRUE(kernels.compiled());
  std::vector<HostBuffer> inputs = randomInputs(kernels.function("k"), check);
  std::vector<HostBuffer> whole = kernels.run("k", inputs, check.numbers);
  std::vector<HostTensor> expected = kernels.reference("k", inputs, check.numbers);
  for (size_t i = 0; i < whole.size(); ++i) {
    if (Type element = whole[i].type.getElementType(); check.elementwise && isNarrow(element))
      EXPECT_TRUE(nextTo(element, whole[i].values(), expected[i], 1e-6)) << "result " << i;
    else
      EXPECT_LE(relativeError(whole[i].values(), expected[i]), check.tolerance) << "result " << i;
    EXPECT_TRUE(whole[i].guardHolds()) << "result " << i << " was written beyond its end";
  }
  if (!kernels.cutsWork())
    return;
  for (int pieces : {2, 5})
    EXPECT_TRUE(kernels.run("k", inputs, check.numbers, pieces) == whole) << "other bits in " << pieces << " pieces";
}

std::string tensor(ArrayRef<int64_t> shape, StringRef element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element.str() + ">";
}
} // namespace hocket::codegen::testing
