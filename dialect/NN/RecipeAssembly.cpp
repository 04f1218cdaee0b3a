// Readers and printers of the recipe's directives: the optimizer's arguments and the learning rate.
#include "dialect/NN/Arguments.h"
#include "dialect/NN/Assembly.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::nn {
constexpr double defaultAdamEps = 1e-8;

static ParseResult parseBetas(OpAsmParser &parser, DenseF64ArrayAttr &betas) {
  SmallVector<double> values;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parseReal(parser, values.emplace_back()); }))
    return failure();
  if (values.size() != 2)
    return parser.emitError(at) << "adamw has two betas, found " << values.size();
  betas = parser.getBuilder().getDenseF64ArrayAttr(values);
  return success();
}

static ParseResult readAdamW(OpAsmParser &parser, DenseF64ArrayAttr &betas, FloatAttr &eps, FloatAttr &decay,
                             FloatAttr *lrScale) {
  eps = parser.getBuilder().getF64FloatAttr(defaultAdamEps);
  auto readBetas = [&] { return parseBetas(parser, betas); };
  auto readEps = [&] { return parseRealAttr(parser, eps); };
  auto readDecay = [&] { return parseRealAttr(parser, decay); };
  auto readScale = [&] { return parseRealAttr(parser, *lrScale); };
  SmallVector<Argument, 4> legal = {
      {"betas", true, readBetas}, {"eps", false, readEps}, {"weight_decay", true, readDecay}};
  if (lrScale)
    legal.push_back({"lr_scale", true, readScale});
  return parseArguments(parser, "adamw", legal);
}

ParseResult parseAdamW(OpAsmParser &parser, DenseF64ArrayAttr &betas, FloatAttr &eps, FloatAttr &decay) {
  return readAdamW(parser, betas, eps, decay, nullptr);
}
void printAdamW(OpAsmPrinter &printer, Operation *, DenseF64ArrayAttr betas, FloatAttr eps, FloatAttr decay) {
  printer << "betas = [";
  llvm::interleaveComma(betas.asArrayRef(), printer, [&](double beta) { printer << realText(beta); });
  printer << ']';
  if (eps.getValueAsDouble() != defaultAdamEps)
    printer << ", eps = " << realText(eps.getValueAsDouble());
  printer << ", weight_decay = " << realText(decay.getValueAsDouble());
}

ParseResult parseAdamWStep(OpAsmParser &parser, DenseF64ArrayAttr &betas, FloatAttr &eps, FloatAttr &decay,
                           FloatAttr &lrScale) {
  return readAdamW(parser, betas, eps, decay, &lrScale);
}
void printAdamWStep(OpAsmPrinter &printer, Operation *op, DenseF64ArrayAttr betas, FloatAttr eps, FloatAttr decay,
                    FloatAttr lrScale) {
  printAdamW(printer, op, betas, eps, decay);
  printer << ", lr_scale = " << realText(lrScale.getValueAsDouble());
}

ParseResult parseLearningRate(OpAsmParser &parser, FloatAttr &peak, IntegerAttr &warmup, IntegerAttr &decay,
                              FloatAttr &floor) {
  StringRef form;
  if (parseWord(parser, "learning rate", {"cosine", "constant"}, form) || parser.parseLParen())
    return failure();
  warmup = parser.getBuilder().getI64IntegerAttr(0);
  floor = parser.getBuilder().getF64FloatAttr(0);
  auto readPeak = [&] { return parseRealAttr(parser, peak); };
  auto readWarmup = [&] { return parseIntegerAttr(parser, warmup); };
  auto readDecay = [&] { return parseIntegerAttr(parser, decay); };
  auto readFloor = [&] { return parseRealAttr(parser, floor); };
  ParseResult read = success();
  const char *next = parser.getCurrentLocation().getPointer();
  if (form == "cosine")
    read = parseArguments(parser, form,
                          {{"peak", true, readPeak},
                           {"warmup", false, readWarmup},
                           {"decay", true, readDecay},
                           {"floor", false, readFloor}});
  else if (next && (llvm::isDigit(*next) || *next == '-'))
    read = readPeak();
  else
    read = parseArguments(parser, form, {{"peak", true, readPeak}, {"warmup", false, readWarmup}});
  return failure(failed(read) || parser.parseRParen());
}

void printLearningRate(OpAsmPrinter &printer, Operation *, FloatAttr peak, IntegerAttr warmup, IntegerAttr decay,
                       FloatAttr floor) {
  std::string peakText = realText(peak.getValueAsDouble());
  if (decay)
    printer << "cosine(peak = " << peakText << ", warmup = " << warmup.getInt() << ", decay = " << decay.getInt()
            << ", floor = " << realText(floor.getValueAsDouble()) << ')';
  else if (warmup.getInt())
    printer << "constant(peak = " << peakText << ", warmup = " << warmup.getInt() << ')';
  else
    printer << "constant(" << peakText << ')';
}

ParseResult parseLossScale(OpAsmParser &parser, FloatAttr &initial, FloatAttr &growth, FloatAttr &backoff,
                           IntegerAttr &interval, IntegerAttr &hysteresis, FloatAttr &floor) {
  StringRef form;
  if (parseWord(parser, "loss scale", {"dynamic", "static"}, form))
    return failure();
  if (form == "static")
    return parseRealInParens(parser, initial);
  Builder &builder = parser.getBuilder();
  initial = builder.getF64FloatAttr(65536);
  growth = builder.getF64FloatAttr(2);
  backoff = builder.getF64FloatAttr(0.5);
  interval = builder.getI64IntegerAttr(2000);
  hysteresis = builder.getI64IntegerAttr(2);
  floor = builder.getF64FloatAttr(1);
  if (failed(parser.parseOptionalLParen()))
    return success();
  auto real = [&](FloatAttr &value) { return [&] { return parseRealAttr(parser, value); }; };
  auto integer = [&](IntegerAttr &value) { return [&] { return parseIntegerAttr(parser, value); }; };
  auto readInitial = real(initial), readGrowth = real(growth), readBackoff = real(backoff), readFloor = real(floor);
  auto readInterval = integer(interval), readHysteresis = integer(hysteresis);
  ParseResult read = parseArguments(parser, form,
                                    {{"initial", false, readInitial},
                                     {"growth", false, readGrowth},
                                     {"backoff", false, readBackoff},
                                     {"interval", false, readInterval},
                                     {"hysteresis", false, readHysteresis},
                                     {"floor", false, readFloor}});
  return failure(failed(read) || parser.parseRParen());
}

void printLossScale(OpAsmPrinter &printer, Operation *, FloatAttr initial, FloatAttr growth, FloatAttr backoff,
                    IntegerAttr interval, IntegerAttr hysteresis, FloatAttr floor) {
  std::string text = realText(initial.getValueAsDouble());
  if (!growth) {
    printer << "static(" << text << ')';
    return;
  }
  printer << "dynamic(initial = " << text << ", growth = " << realText(growth.getValueAsDouble())
          << ", backoff = " << realText(backoff.getValueAsDouble()) << ", interval = " << interval.getInt()
          << ", hysteresis = " << hysteresis.getInt() << ", floor = " << realText(floor.getValueAsDouble()) << ')';
}
} // namespace hocket::nn
