// Readers and printers of the directives of models and of the mathematics.
#include "dialect/NN/Assembly.h"
#include "dialect/NN/Arguments.h"
using namespace mlir;

namespace hocket::nn {

// ---- initialisers ---------------------------------------------------------------------------------------------------
static ParseResult readInit(AsmParser &parser, InitAttr &init) {
  StringRef word;
  if (parseWord(parser, "initialiser", {"zeros", "ones", "normal", "constant"}, word))
    return failure();
  InitKind kind = *symbolizeInitKind(word);
  FloatAttr scale = parser.getBuilder().getF64FloatAttr(0);
  if ((kind == InitKind::Normal || kind == InitKind::Constant) && parseRealInParens(parser, scale))
    return failure();
  init = InitAttr::get(parser.getContext(), kind, scale);
  return success();
}

template <typename Printer> static void writeInit(Printer &printer, InitAttr init) {
  printer << stringifyInitKind(init.getKind());
  if (init.getKind() == InitKind::Normal || init.getKind() == InitKind::Constant)
    printer << '(' << realText(init.getScale().getValueAsDouble()) << ')';
}

ParseResult parseInitClause(OpAsmParser &parser, InitAttr &init) { return readInit(parser, init); }
void printInitClause(OpAsmPrinter &printer, Operation *, InitAttr init) { writeInit(printer, init); }

Attribute InitAttr::parse(AsmParser &parser, Type) {
  InitAttr init;
  if (parser.parseLess() || readInit(parser, init) || parser.parseGreater())
    return {};
  return init;
}
void InitAttr::print(AsmPrinter &printer) const {
  printer << '<';
  writeInit(printer, *this);
  printer << '>';
}

// ---- numbers of norms, rope and attention ---------------------------------------------------------------------------
constexpr double defaultEps = 1e-5;
constexpr double defaultTheta = 10000;

ParseResult parseEps(OpAsmParser &parser, FloatAttr &eps) {
  eps = parser.getBuilder().getF64FloatAttr(defaultEps);
  return succeeded(parser.parseOptionalKeyword("eps")) ? parseRealInParens(parser, eps) : ParseResult(success());
}
void printEps(OpAsmPrinter &printer, Operation *, FloatAttr eps) {
  if (eps && eps.getValueAsDouble() != defaultEps)
    printer << " eps(" << realText(eps.getValueAsDouble()) << ')';
}

ParseResult parseRope(OpAsmParser &parser, FloatAttr &theta, IntegerAttr &dims, UnitAttr &interleaved,
                      FloatAttr &scale) {
  theta = parser.getBuilder().getF64FloatAttr(defaultTheta);
  auto flag = [&]() -> ParseResult {
    interleaved = parser.getBuilder().getUnitAttr();
    return success();
  };
  return parseOptions(parser, "rope",
                      {{"theta", false, [&] { return parseRealInParens(parser, theta); }},
                       {"dims", false, [&] { return parseIntegerInParens(parser, dims); }},
                       {"interleaved", false, flag},
                       {"position_scale", false, [&] { return parseRealInParens(parser, scale); }}});
}
void printRope(OpAsmPrinter &printer, Operation *, FloatAttr theta, IntegerAttr dims, UnitAttr interleaved,
               FloatAttr scale) {
  if (theta && theta.getValueAsDouble() != defaultTheta)
    printer << " theta(" << realText(theta.getValueAsDouble()) << ')';
  if (dims)
    printer << " dims(" << dims.getInt() << ')';
  if (interleaved)
    printer << " interleaved";
  if (scale)
    printer << " position_scale(" << realText(scale.getValueAsDouble()) << ')';
}

ParseResult parseAttentionMask(OpAsmParser &parser, MaskKindAttr &mask, FloatAttr &scale, IntegerAttr &window,
                               FloatAttr &softcap, UnitAttr &ring) {
  StringRef word;
  if (parseWord(parser, "attention mask", {"causal", "full"}, word))
    return failure();
  mask = MaskKindAttr::get(parser.getContext(), *symbolizeMaskKind(word));
  return parseOptions(
      parser, "attention",
      {{"scale", true, [&] { return parseRealInParens(parser, scale); }},
       {"window", false, [&] { return parseIntegerInParens(parser, window); }},
       {"softcap", false, [&] { return parseRealInParens(parser, softcap); }},
       {"ring", false, [&]() -> ParseResult { return ring = parser.getBuilder().getUnitAttr(), success(); }}});
}
void printAttentionMask(OpAsmPrinter &printer, Operation *, MaskKindAttr mask, FloatAttr scale, IntegerAttr window,
                        FloatAttr softcap, UnitAttr ring) {
  printer << stringifyMaskKind(mask.getValue()) << " scale(" << realText(scale.getValueAsDouble()) << ')';
  if (window)
    printer << " window(" << window.getInt() << ')';
  if (softcap)
    printer << " softcap(" << realText(softcap.getValueAsDouble()) << ')';
  if (ring)
    printer << " ring";
}

ParseResult parseRouter(OpAsmParser &parser, ScoreKindAttr &scores, UnitAttr &normalized, FloatAttr &scale,
                        FloatAttr &balance) {
  Builder &builder = parser.getBuilder();
  scores = ScoreKindAttr::get(parser.getContext(), ScoreKind::Softmax);
  scale = builder.getF64FloatAttr(1);
  balance = builder.getF64FloatAttr(0);
  auto kind = [&](ScoreKind is) -> ParseResult {
    scores = ScoreKindAttr::get(parser.getContext(), is);
    return success();
  };
  auto flag = [&]() -> ParseResult {
    normalized = builder.getUnitAttr();
    return success();
  };
  return parseOptions(parser, "router",
                      {{"softmax", false, [&] { return kind(ScoreKind::Softmax); }},
                       {"sigmoid", false, [&] { return kind(ScoreKind::Sigmoid); }},
                       {"normalized", false, flag},
                       {"scale", false, [&] { return parseRealInParens(parser, scale); }},
                       {"balance", false, [&] { return parseRealInParens(parser, balance); }}});
}
void printRouter(OpAsmPrinter &printer, Operation *, ScoreKindAttr scores, UnitAttr normalized, FloatAttr scale,
                 FloatAttr balance) {
  if (scores && scores.getValue() != ScoreKind::Softmax)
    printer << ' ' << stringifyScoreKind(scores.getValue());
  if (normalized)
    printer << " normalized";
  if (scale && scale.getValueAsDouble() != 1)
    printer << " scale(" << realText(scale.getValueAsDouble()) << ')';
  if (balance && balance.getValueAsDouble() != 0)
    printer << " balance(" << realText(balance.getValueAsDouble()) << ')';
}

ParseResult parseReal(OpAsmParser &parser, FloatAttr &value) { return parseRealAttr(parser, value); }
void printReal(OpAsmPrinter &printer, Operation *, FloatAttr value) { printer << realText(value.getValueAsDouble()); }

// ---- slots and calls ------------------------------------------------------------------------------------------------
ParseResult parseKind(OpAsmParser &parser, SlotKindAttr &kind) {
  StringRef word;
  if (parseWord(
          parser, "kind of slot",
          {"param", "first_moment", "second_moment", "master", "state", "accumulator", "value", "input", "output"},
          word))
    return failure();
  kind = SlotKindAttr::get(parser.getContext(), *symbolizeSlotKind(word));
  return success();
}
void printKind(OpAsmPrinter &printer, Operation *, SlotKindAttr kind) { printer << stringifySlotKind(kind.getValue()); }
} // namespace hocket::nn

ParseResult hocket::nn::parseNeutral(OpAsmParser &parser, FloatAttr &value) {
  double sign = succeeded(parser.parseOptionalMinus()) ? -1 : 1, number = std::numeric_limits<double>::infinity();
  if (failed(parser.parseOptionalKeyword("inf")) && parseReal(parser, number))
    return failure();
  value = parser.getBuilder().getF64FloatAttr(sign * number);
  return success();
}
void hocket::nn::printNeutral(OpAsmPrinter &printer, Operation *, FloatAttr value) {
  printer << realText(value.getValueAsDouble());
}
