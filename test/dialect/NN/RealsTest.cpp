// Numbers read as people write them, and print so that they read back exactly.
#include "dialect/NN/NN.h"
#include "mlir/AsmParser/AsmParser.h"
#include <cfloat>
#include <gtest/gtest.h>
#include <random>
using namespace mlir;
using namespace hocket::nn;

namespace {
class Reals : public testing::Test {
protected:
  Reals() { context.loadDialect<NNDialect>(); }
  /// What parseReal makes of `text`; nothing if it refuses.
  std::optional<double> read(const std::string &text) {
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
    auto init = dyn_cast_or_null<InitAttr>(parseAttribute("#nn.init<constant(" + text + ")>", &context));
    return init ? std::optional(init.getScale().getValueAsDouble()) : std::nullopt;
  }
  MLIRContext context;
};
} // namespace

TEST_F(Reals, ReadsWhatPeopleWrite) {
  std::pair<const char *, double> cases[] = {{"1", 1},         {"-2", -2},    {"0.1", 0.1},     {"1e-3", 1e-3},
                                             {"6.0e-5", 6e-5}, {"1e3", 1000}, {"-1E-3", -1e-3}, {"2e+1", 20},
                                             {"0", 0},         {"1.", 1},     {"007", 7},       {"3e05", 3e5}};
  for (auto [text, value] : cases)
    EXPECT_EQ(read(text), value) << text;
}

TEST_F(Reals, RefusesTheRest) {
  for (auto *text : {"", "x", "e3", "--1", "1e", "1e3x", "1 e3", "1e999", "nan", "inf", "0x10", "99999999999999999999"})
    EXPECT_EQ(read(text), std::nullopt) << text;
}

TEST_F(Reals, PrintsShortTextWithAPoint) {
  std::pair<double, const char *> cases[] = {
      {1, "1.0"},       {0.02, "0.02"}, {1e-4, "1.0e-4"}, {6e-5, "6.0e-5"},   {-0.5, "-0.5"},
      {1e22, "1.0e22"}, {0, "0.0"},     {1000, "1000.0"}, {1.5e-8, "1.5e-8"}, {0.1 + 0.2, "0.30000000000000004"}};
  for (auto [value, text] : cases)
    EXPECT_EQ(realText(value), text);
}

TEST_F(Reals, ReadsBackExactly) {
  std::mt19937_64 random(1);
  std::vector<double> values = {DBL_MAX, DBL_MIN, DBL_TRUE_MIN, -DBL_MAX, 123456789012345678.0, 1.0 / 3};
  for (int i = 0; i < 500; ++i)
    if (double value = llvm::bit_cast<double>(random()); std::isfinite(value))
      values.push_back(value);
  for (double value : values)
    EXPECT_EQ(read(realText(value)), value) << realText(value);
}
