// Names of SSA values, so that IR reads aloud: %h3_attn_qkv, %h3_ln_1, %h0_attn_proj_grad.
#include "dialect/NN/NN.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::nn {

/// "h.3.attn.qkv" is "h3_attn_qkv": dots become underscores, and a number joins the word before it. The use of a tied
/// parameter, "wte#1", is "wte_use1".
static std::string joined(StringRef name) {
  auto [path, use] = name.split('#');
  std::string out;
  SmallVector<StringRef> parts;
  path.split(parts, '.', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    if (!out.empty() && !llvm::all_of(part, llvm::isDigit))
      out += '_';
    for (char c : part)
      out += llvm::isAlnum(c) ? c : '_';
  }
  return use.empty() ? out : out + "_use" + use.str();
}

/// The op's attribute `name`. Names are asked for faulty ops too, which may lack it.
static StringRef nameOf(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>("name");
  return name ? name.getValue() : StringRef();
}

/// The parameter that a value is, seen through casts and collectives: ops of one operand. Empty if it is none.
static StringRef parameterOf(Value value) {
  constexpr int longestChain = 8;
  for (int i = 0; i < longestChain; ++i) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return {};
    if (auto param = dyn_cast<ParamOp>(op))
      return nameOf(op);
    if (auto read = dyn_cast<ReadOp>(op); read && read.getKindAttr())
      return llvm::is_contained({SlotKind::Param, SlotKind::Master, SlotKind::Value}, read.getKind()) ? nameOf(op)
                                                                                                      : StringRef();
    if (op->getNumOperands() != 1)
      return {};
    value = op->getOperand(0);
  }
  return {};
}

/// The accumulator that a value is added to: the name of a gradient.
static StringRef accumulatorOf(Value value) {
  constexpr int longestChain = 3;
  for (int i = 0; i < longestChain; ++i) {
    if (value.use_empty())
      return {};
    Operation *user = *value.user_begin();
    if (auto write = dyn_cast<WriteOp>(user))
      return write.getKindAttr() && write.getKind() == SlotKind::Accumulator ? nameOf(user) : StringRef();
    if (user->getNumResults() != 1)
      return {};
    value = user->getResult(0);
  }
  return {};
}

static std::string withPath(Operation *op, StringRef parameter) {
  auto [path, use] = getPath(op).split('#');
  parameter.consume_back(".weight");
  if (!use.empty())
    return joined(getPath(op));
  // Inside a block that is not yet in place a parameter has no path in its name.
  if (path.empty() || parameter.starts_with(path) || op->getParentOfType<TrainingStepOp>())
    return joined(parameter);
  return joined((path + "." + parameter).str());
}

static bool makesForwardValue(Operation *op) {
  return getPhase(op) == Phase::Forward || getPhase(op) == Phase::Recompute;
}

static std::string baseName(Operation *op) {
  StringRef mnemonic = op->getName().stripDialect();
  if (getPhase(op) == Phase::WeightGrad && op->getNumResults() == 1)
    if (StringRef accumulator = accumulatorOf(op->getResult(0)); !accumulator.empty()) {
      accumulator.consume_back(".weight");
      // The sum with what was there is the accumulator again.
      return joined(accumulator) + (isa<WriteOp>(*op->user_begin()) && isa<AddOp>(op) ? "_acc" : "_grad");
    }
  if (isa<LinearOp, MatmulOp, RouterLogitsOp, EmbeddingOp, LayerNormOp, RmsNormOp>(op))
    if (StringRef parameter = parameterOf(op->getOperand(1)); !parameter.empty())
      return withPath(op, parameter) + (makesForwardValue(op) ? "" : "_dx");
  if (auto elementwise = dyn_cast<ElementwiseOp>(op); elementwise && elementwise.getName())
    mnemonic = *elementwise.getName();
  if (auto adam = dyn_cast<AdamWOp>(op))
    if (StringRef parameter = parameterOf(adam.getParam()); !parameter.empty())
      return joined(parameter);
  std::string path = joined(getPath(op));
  std::string name = path.empty() ? mnemonic.str() : path + "_" + mnemonic.str();
  return makesForwardValue(op) || mnemonic.ends_with("_grad") ? name : name + "_grad";
}

/// What the results of ops with several are, in order; empty for ops whose results are numbered.
static ArrayRef<StringRef> resultSuffixes(Operation *op) {
  static constexpr StringRef attention[] = {"", "_lse"}, crossEntropy[] = {"_sum", "_count", "_lse"},
                             attentionGrad[] = {"_dq", "_dk", "_dv"}, paramGrad[] = {"_gain", "_bias"},
                             adamw[] = {"_next", "_next_m", "_next_v"},
                             router[] = {"_weights", "_slots", "_tokens", "_load"};
  if (isa<AttentionOp>(op))
    return attention;
  if (isa<CrossEntropyOp>(op))
    return crossEntropy;
  if (isa<AttentionGradOp>(op))
    return attentionGrad;
  if (isa<LayerNormParamGradOp>(op))
    return paramGrad;
  if (isa<AdamWOp>(op))
    return adamw;
  if (isa<RouterOp>(op))
    return router;
  return {};
}

/// Slots of one parameter have one name; what is read of them has different ones.
static StringRef suffixOf(SlotKind kind) {
  switch (kind) {
  case SlotKind::FirstMoment:
    return ".m";
  case SlotKind::SecondMoment:
    return ".v";
  case SlotKind::Master:
    return ".master";
  case SlotKind::Accumulator:
    return ".acc";
  case SlotKind::Param:
  case SlotKind::Value:
  case SlotKind::State:
  case SlotKind::Input:
  case SlotKind::Output:
    return "";
  }
  return "";
}

void nameResults(Operation *op, OpAsmSetValueNameFn set) {
  if (auto read = dyn_cast<ReadOp>(op)) {
    if (read.getKindAttr())
      set(read.getValue(), llvm::join(llvm::split(nameOf(op), '#'), ".use") + suffixOf(read.getKind()).str());
    return;
  }
  if (!op->getNumResults())
    return;
  std::string base = baseName(op) + (getPhase(op) == Phase::Recompute ? "_again" : "");
  ArrayRef<StringRef> suffixes = resultSuffixes(op);
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    if (i < suffixes.size())
      set(result, base + suffixes[i].str());
    else
      set(result, op->getNumResults() == 1 ? base : base + "_" + std::to_string(i));
  }
}

void ParamOp::getAsmResultNames(OpAsmSetValueNameFn set) { set(getValue(), nameOf(*this)); }

static void nameAfter(StringRef name, ResultRange results, OpAsmSetValueNameFn set) {
  for (auto [i, result] : llvm::enumerate(results))
    set(result, results.size() == 1 ? joined(name) : joined(name) + "_" + std::to_string(i));
}
void CallOp::getAsmResultNames(OpAsmSetValueNameFn set) { nameAfter(nameOf(*this), getResults(), set); }
void RepeatOp::getAsmResultNames(OpAsmSetValueNameFn set) { nameAfter(nameOf(*this), getResults(), set); }
} // namespace hocket::nn
