// Ties the dimensions of a model's values into classes and says what each class is.
#include "passes/Dist/DimensionClasses.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::dist {
namespace {
ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// Forward ops of a microbatch: what the model itself computes; and the casts of parameters before it.
bool isModel(const StepGraph &graph, const StepOp &op) {
  if (op.region == &nn::TrainingStepOp(graph.step).getBegin())
    return isa<nn::CastOp>(op.op);
  return op.region == &nn::TrainingStepOp(graph.step).getMicrobatch() && nn::getPhase(op.op) == nn::Phase::Forward;
}

/// True if the ids come from outside and not from positions: a table of learned positions is no vocabulary.
bool indexedByTokens(nn::EmbeddingOp embedding) {
  Operation *ids = embedding.getIds().getDefiningOp();
  return ids && isa<nn::ReadOp>(ids);
}
} // namespace

int64_t headCount(nn::AttentionOp attention) {
  ArrayRef<int64_t> shape = shapeOf(attention.getQ());
  return shape.size() == 5 ? shape[2] * shape[3] : shape[2];
}
int64_t kvHeadCount(nn::AttentionOp attention) { return shapeOf(attention.getK())[2]; }

std::string headsText(nn::AttentionOp attention) { return headsText(headCount(attention), kvHeadCount(attention)); }
std::string headsText(int64_t heads, int64_t kv) {
  std::string text = std::to_string(heads) + " heads";
  return heads == kv ? text : text + " with " + std::to_string(kv) + " KV heads";
}

SmallVector<int64_t> legalDegrees(int64_t heads, int64_t kvHeads) {
  SmallVector<int64_t> degrees;
  for (int64_t degree = 1; degree <= heads; ++degree)
    if (heads % degree == 0 && (kvHeads % degree == 0 || degree % kvHeads == 0))
      degrees.push_back(degree);
  return degrees;
}
std::string degreesText(ArrayRef<int64_t> degrees) {
  return llvm::join(llvm::map_range(degrees, [](int64_t degree) { return std::to_string(degree); }), ", ");
}

DimensionClasses::DimensionClasses(const StepGraph &graph) {
  for (auto &[op, node] : graph.slots)
    for (int64_t dim = 0; dim < graph.types[node].getRank(); ++dim)
      ties.insert({node, static_cast<int>(dim)});
  for (const StepOp &op : graph.ops)
    if (isModel(graph, op))
      tieByFactors(op, ties);
  for (auto [value, slot] : graph.handovers)
    for (int dim = 0; dim < graph.types[slot].getRank(); ++dim)
      ties.unionSets({value, dim}, {slot, dim});
  collect(graph);
  classify(graph);
}

void DimensionClasses::collect(const StepGraph &graph) {
  for (auto &[op, node] : graph.slots) {
    auto slot = cast<nn::SlotOp>(op);
    if (slot.getKind() != nn::SlotKind::Param)
      continue;
    for (int dim = 0; dim < graph.types[node].getRank(); ++dim) {
      auto [at, fresh] = ofLeader.try_emplace(ties.getLeaderValue({node, dim}), static_cast<int>(classes.size()));
      if (fresh)
        classes.emplace_back().size = graph.types[node].getDimSize(dim);
      classes[at->second].params.push_back({slot, dim});
      index[{slot, dim}] = at->second;
    }
  }
}

/// Heads and vocabulary are known by the ops that they belong to; among the rest, one that a product makes and a
/// product contracts, and that no op needs whole, is inner.
void DimensionClasses::classify(const StepGraph &graph) {
  struct Facts {
    bool made = false, contracted = false, indexed = false, headOfQ = false, groupOfQ = false, experts = false;
  };
  SmallVector<Facts> facts(classes.size());
  for (const StepOp &op : graph.ops) {
    if (!isModel(graph, op))
      continue;
    auto classOf = [&](Node node, int dim) {
      auto leader = ties.findLeader({node, dim});
      auto at = leader == ties.member_end() ? ofLeader.end() : ofLeader.find(*leader);
      return at == ofLeader.end() ? -1 : at->second;
    };
    // dispatch makes [e, b, c, h], combine takes it
    Node routed = isa<nn::DispatchOp>(op.op) ? op.results[0] : isa<nn::CombineOp>(op.op) ? op.operands[0] : -1;
    if (int at = routed < 0 ? -1 : classOf(routed, 0); at >= 0) {
      facts[at].experts = true;
      classes[at].neededWhole = op.op;
    }
    for (auto [operand, node] : llvm::enumerate(op.operands))
      for (auto [dim, factor] : llvm::enumerate(op.rule.operands[operand])) {
        int at = node < 0 ? -1 : classOf(node, static_cast<int>(dim));
        if (at < 0)
          continue;
        const nn::Factor &info = op.rule.factors[factor];
        bool inResult = llvm::any_of(op.rule.results, [&](auto &term) { return llvm::is_contained(term, factor); });
        bool isProduct = isa<nn::LinearOp, nn::MatmulOp>(op.op);
        facts[at].made |= isProduct && inResult;
        facts[at].contracted |= isProduct && !inResult;
        if (info.whole && !classes[at].neededWhole)
          classes[at].neededWhole = op.op;
        auto embedding = dyn_cast<nn::EmbeddingOp>(op.op);
        facts[at].indexed |= info.needsOffset && (!embedding || indexedByTokens(embedding));
        classes[at].ofPositions |= info.needsOffset && embedding && !indexedByTokens(embedding);
        if (auto attention = dyn_cast<nn::AttentionOp>(op.op); attention && operand == 0 && dim >= 2 && !info.whole) {
          (dim == 2 ? facts[at].headOfQ : facts[at].groupOfQ) = true;
          classes[at].attention = attention;
        }
      }
  }
  for (auto [info, found] : llvm::zip(classes, facts)) {
    if (found.experts)
      info.kind = DimensionKind::Experts;
    else if (info.neededWhole)
      info.kind = DimensionKind::Whole;
    else if (found.headOfQ)
      info.kind = DimensionKind::Heads;
    else if (found.groupOfQ)
      info.kind = DimensionKind::Groups;
    else if (found.indexed)
      info.kind = DimensionKind::Vocabulary;
    else if (found.made && found.contracted)
      info.kind = DimensionKind::Inner;
  }
}
} // namespace hocket::dist
