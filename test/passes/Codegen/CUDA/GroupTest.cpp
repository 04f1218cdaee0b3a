// Kernels that share a launch have the bits that they have alone: updates, square sums, sums down columns, slices with
// numbers of their own; classes of equal parts and parts that stand alone.
#include "KernelTesting.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
using namespace hocket::codegen::testing;
using llvm::formatv;

namespace {
/// A part: its operands, its ops, what it returns. In names # is the part's number; operands without one are shared.
struct Part {
  std::vector<std::pair<std::string, std::string>> operands; ///< name without %, type
  std::vector<std::string> ops;
  std::vector<std::pair<std::string, std::string>> results;
  std::vector<int64_t> inPlace; ///< pairs (result, operand) of the part
};

/// One kernel of some parts.
std::string kernelOf(llvm::ArrayRef<Part> parts, bool group) {
  std::vector<std::string> arguments, lines, returned, types, counts, pairs;
  std::map<std::string, size_t> known;
  size_t results = 0;
  for (auto [i, part] : llvm::enumerate(parts)) {
    auto named = [&, n = i](std::string text) {
      for (size_t at; (at = text.find('#')) != std::string::npos;)
        text.replace(at, 1, std::to_string(n));
      return text;
    };
    std::vector<size_t> places;
    for (const auto &[name, type] : part.operands) {
      auto [place, isNew] = known.insert({named(name), arguments.size()});
      if (isNew)
        arguments.push_back("%" + named(name) + ": " + type);
      places.push_back(place->second);
    }
    for (const std::string &op : part.ops)
      lines.push_back(named(op));
    for (const auto &[name, type] : part.results)
      returned.push_back("%" + named(name)), types.push_back(type);
    counts.push_back(std::to_string(part.ops.size()));
    for (size_t k = 0; k + 1 < part.inPlace.size(); k += 2)
      pairs.push_back(
          formatv("{0}, {1}", results + static_cast<size_t>(part.inPlace[k]), places[part.inPlace[k + 1]]).str());
    results += part.results.size();
  }
  std::string attributes = pairs.empty() ? "" : "hocket.in_place = array<i64: " + llvm::join(pairs, ", ") + ">";
  if (group)
    attributes += (attributes.empty() ? "" : ", ") + ("hocket.parts = array<i64: " + llvm::join(counts, ", ") + ">");
  return "func.func private @k(" + llvm::join(arguments, ", ") + ") -> (" + llvm::join(types, ", ") + ") attributes {" +
         attributes + "} {\n" + llvm::join(lines, "\n") + "\nreturn " + llvm::join(returned, ", ") + " : " +
         llvm::join(types, ", ") + "\n}";
}

Part adamw(std::vector<int64_t> shape, const char *element = "f32", double decay = 0.1) {
  std::string t = tensor(shape), g = tensor(shape, element);
  bool narrow = g != t;
  std::string update =
      formatv("%a#, %b#, %c# = nn.adamw %p#, %{1}#, %m#, %v# rate %r_ clip %c_ step %t_ (betas = [0.9, 0.95], "
              "eps = 1e-8, weight_decay = {2}, lr_scale = 1.0) : {0}, {0}, {0}, {0}, tensor<f32>, "
              "tensor<f32>, tensor<i64> -> {0}, {0}, {0}",
              t, narrow ? "wide" : "g", decay);
  Part part{
      {{"p#", t}, {"g#", g}, {"m#", t}, {"v#", t}, {"r_", "tensor<f32>"}, {"c_", "tensor<f32>"}, {"t_", "tensor<i64>"}},
      {update},
      {{"a#", t}, {"b#", t}, {"c#", t}},
      {0, 0, 1, 2, 2, 3}};
  if (narrow)
    part.ops.insert(part.ops.begin(), formatv("%wide# = nn.cast %g# : {0} -> {1}", g, t).str());
  return part;
}
Part squares(std::vector<int64_t> shape, const char *element = "f32") {
  std::string t = tensor(shape, element);
  return {{{"x#", t}}, {formatv("%s# = nn.square_sum %x# : {0} -> tensor<f32>", t).str()}, {{"s#", "tensor<f32>"}}, {}};
}
Part columns(int64_t rows, int64_t width) {
  std::string t = tensor({rows, width}), s = tensor({width});
  return {{{"x#", t}},
          {formatv("%q# = nn.mul %x#, %x# : {0}, {0} -> {0}", t).str(),
           formatv("%s# = nn.sum %q# : {0} -> {1}", t, s).str()},
          {{"s#", s}},
          {}};
}
Part parameterGrad(int64_t rows, int64_t width) {
  std::string t = tensor({rows, width}, "bf16"), s = tensor({width});
  return {{{"d#", t}, {"x#", t}},
          {formatv("%y#, %b# = nn.layer_norm_param_grad %d#, %x# : {0}, {0} -> {1}, {1}", t, s).str()},
          {{"y#", s}, {"b#", s}},
          {}};
}
Part slice(int64_t rows, int64_t width) {
  std::string t = tensor({rows, width}), s = tensor({2, width});
  return {{{"x#", t}, {"zo#", "i64"}},
          {formatv("%y# = step.slice %x# dim 0 offset %zo# : {0} -> {1}", t, s).str()},
          {{"y#", s}},
          {}};
}

void checkGroup(const std::vector<Part> &parts, const std::vector<int64_t> &numbers = {}) {
  std::string text = kernelOf(parts, true);
  SCOPED_TRACE(text);
  Kernels group(text);
  ASSERT_TRUE(group.compiled());
  auto inputs = randomInputs(group.function("k"), Check{.ids = 7, .positive = true});
  // operands of the group by name, tensors and numbers apart
  std::map<std::string, size_t> tensors, scalars;
  std::vector<std::string> names;
  std::vector<int64_t> inPlace;
  int64_t results = 0;
  for (auto [i, part] : llvm::enumerate(parts)) {
    for (const auto &[name, type] : part.operands) {
      std::string full = name;
      if (full.back() == '#')
        full.back() = static_cast<char>('0' + i);
      auto &of = type == "i64" ? scalars : tensors;
      of.insert({full, of.size()});
    }
    for (size_t k = 0; k + 1 < part.inPlace.size(); k += 2) {
      std::string full = part.operands[part.inPlace[k + 1]].first;
      full.back() = static_cast<char>('0' + i);
      inPlace.insert(inPlace.end(), {results + part.inPlace[k], static_cast<int64_t>(tensors.at(full))});
    }
    results += static_cast<int64_t>(part.results.size());
  }
  auto together = group.run("k", inputs, numbers), onOperands = group.run("k", inputs, numbers, 1, inPlace);
  EXPECT_TRUE(together == onOperands) << "other bits in place";
  size_t next = 0;
  for (auto [i, part] : llvm::enumerate(parts)) {
    Kernels one(kernelOf({part}, false));
    ASSERT_TRUE(one.compiled());
    std::vector<HostBuffer> own;
    std::vector<int64_t> ownNumbers;
    size_t at = 0;
    for (const auto &[name, type] : part.operands) {
      std::string full = name;
      if (full.back() == '#')
        full.back() = static_cast<char>('0' + i);
      if (type == "i64") {
        ownNumbers.push_back(numbers[scalars.at(full)]);
        continue;
      }
      own.emplace_back(mlir::cast<mlir::RankedTensorType>(one.function("k").getArgumentTypes()[at++]));
      own.back().bytes = inputs[tensors.at(full)].bytes;
    }
    for (const HostBuffer &alone : one.run("k", own, ownNumbers))
      EXPECT_TRUE(together[next++] == alone) << "part " << i;
  }
}

TEST(Group, Updates) {
  checkGroup({adamw({768}), adamw({3, 257}), adamw({768}), adamw({40, 256}), adamw({1}), adamw({768}), adamw({768})});
  checkGroup({adamw({700}), adamw({700}, "bf16"), adamw({700}, "f32", 0), adamw({700}, "bf16")});
}
TEST(Group, SumsOfSquares) {
  // rows of part of a warp, a warp, and blocks of several sizes: as many GPU kernels
  checkGroup({squares({768}), squares({2304}), squares({3072}), squares({5}), squares({768}), squares({8000}, "bf16")});
}
TEST(Group, SumsOfColumns) {
  checkGroup({columns(40, 33), columns(70, 256), columns(40, 33), columns(3, 1), columns(40, 33)});
  checkGroup({parameterGrad(70, 1280), parameterGrad(9, 24), parameterGrad(70, 1280)});
}
TEST(Group, NumbersOfTheirOwn) { checkGroup({slice(6, 40), slice(6, 40), slice(9, 3), slice(6, 40)}, {1, 4, 7, 0}); }
} // namespace
