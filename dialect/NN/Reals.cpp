// Numbers as people write them. MLIR lexes `1e-3` as 1, e, -, 3, refuses `1` for a float, and prints 9.500000e-01.
#include "dialect/NN/NN.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>
#include <cmath>
using namespace mlir;

namespace hocket::nn {

/// The exponent that follows an integer without a blank: the word `e3`, or the word `e`, a sign and an integer.
static ParseResult parseExponent(AsmParser &parser, std::string &text) {
  const char *at = parser.getCurrentLocation().getPointer();
  if (!at || (*at != 'e' && *at != 'E') || !llvm::isDigit(at[-1]))
    return success();
  StringRef word;
  if (failed(parser.parseOptionalKeyword(&word)))
    return success();
  text += word.str();
  if (word.size() > 1)
    return success();
  if (succeeded(parser.parseOptionalMinus()))
    text += '-';
  else
    (void)parser.parseOptionalPlus();
  int64_t exponent = 0;
  if (parser.parseInteger(exponent))
    return failure();
  text += std::to_string(exponent);
  return success();
}

ParseResult parseReal(AsmParser &parser, double &value) {
  bool negative = succeeded(parser.parseOptionalMinus());
  SMLoc at = parser.getCurrentLocation();
  if (!at.getPointer() || !llvm::isDigit(*at.getPointer()))
    return parser.emitError(at) << "expected a number";
  int64_t whole = 0;
  OptionalParseResult integer = parser.parseOptionalDecimalInteger(whole);
  if (!integer.has_value()) {
    if (parser.parseFloat(value))
      return failure();
  } else {
    std::string text = std::to_string(whole);
    if (failed(*integer) || parseExponent(parser, text))
      return failure();
    if (StringRef(text).getAsDouble(value))
      return parser.emitError(at) << "'" << text << "' is not a number";
  }
  if (!std::isfinite(value))
    return parser.emitError(at) << "number is too large";
  value = negative ? -value : value;
  return success();
}

std::string realText(double value) {
  if (!std::isfinite(value))
    return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  char buffer[40];
  StringRef text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr - buffer);
  auto [mantissa, exponent] = text.split('e');
  std::string out = mantissa.str();
  if (!mantissa.contains('.'))
    out += ".0";
  if (exponent.empty())
    return out;
  bool minus = exponent.consume_front("-");
  exponent.consume_front("+");
  return out + (minus ? "e-" : "e") + exponent.ltrim('0').str();
}
} // namespace hocket::nn
