// Attention and its gradient, head by head. Softmax rows are found from scores with the row's maximum taken off, so
// that nothing overflows; a row that sees no key is zero. The gradient is that of FlashAttention (Dao et al. 2022,
// appendix B.4).
#include "dialect/NN/ShapeCheck.h"
#include <cmath>
#include <limits>
using namespace mlir;
using namespace hocket::nn;

namespace {
constexpr double unseen = -std::numeric_limits<double>::infinity(); ///< the score of a key that the mask hides

bool isGrouped(Value q) { return tensorType(q).getRank() == 5; }

/// Terms of q, k, v, both positions, y, lse and both documents (or none); q is grouped or not. In a ring keys are split
/// as queries are.
struct AttentionTerms {
  std::string keys, heads, q, k, v, y, lse, positions, documents;
  explicit AttentionTerms(bool grouped, bool hasDocuments, bool ring)
      : keys(ring ? "b s" : "b !t"), heads(grouped ? "b s kv g" : "b s n"), q(heads + " !d"),
        k(keys + (grouped ? " kv !d" : " n !d")), v(keys + (grouped ? " kv !e" : " n !e")), y(heads + " !e"),
        lse(heads), positions("b s, " + keys), documents(hasDocuments ? ", " + positions : "") {}
};

std::string attentionRule(AttentionOp op) {
  AttentionTerms terms(isGrouped(op.getQ()), !op.getDocuments().empty(), op.getRing());
  return terms.q + ", " + terms.k + ", " + terms.v + ", " + terms.positions + terms.documents + " -> " + terms.y +
         (op.getLse() ? ", " + terms.lse : "");
}

std::string attentionGradRule(AttentionGradOp op) {
  AttentionTerms terms(isGrouped(op.getQ()), !op.getDocuments().empty(), op.getRing());
  return terms.y + ", " + terms.q + ", " + terms.k + ", " + terms.v + ", " + terms.positions + ", " + terms.y + ", " +
         terms.lse + terms.documents + " -> " + terms.q + ", " + terms.k + ", " + terms.v;
}

/// The numbers of mask and score, and what one query row does; AttentionOp and AttentionGradOp have the same
/// attributes.
struct Scores {
  double scale, softcap = 0;
  int64_t window = 0;
  bool causal;

  template <typename OpT> explicit Scores(OpT op) : scale(op.getScale().convertToDouble()) {
    causal = op.getMask() == MaskKind::Causal;
    if (op.getSoftcap())
      softcap = op.getSoftcap()->convertToDouble();
    if (op.getWindow())
      window = static_cast<int64_t>(*op.getWindow());
  }
  bool sees(double query, double key) const {
    return (!causal || key <= query) && (window == 0 || query - key < static_cast<double>(window));
  }
  /// Score after the cap, and its derivative by q · k.
  std::pair<double, double> score(const double *q, const double *k, int64_t size) const {
    double product = 0;
    for (int64_t i = 0; i < size; ++i)
      product += q[i] * k[i];
    product *= scale;
    if (softcap == 0)
      return {product, scale};
    double squashed = std::tanh(product / softcap);
    return {softcap * squashed, scale * (1 - squashed * squashed)};
  }
};

/// Positions and documents of queries and keys: who sees whom.
struct Visibility {
  const Scores &scores;
  const HostTensor &queryPositions, &keyPositions;
  const HostTensor *queryDocuments, *keyDocuments; ///< null if there are none

  /// `documents`: none or two operands.
  Visibility(const Scores &scores, const HostTensor &queryPositions, const HostTensor &keyPositions,
             ArrayRef<const HostTensor *> documents)
      : scores(scores), queryPositions(queryPositions), keyPositions(keyPositions),
        queryDocuments(documents.empty() ? nullptr : documents[0]),
        keyDocuments(documents.empty() ? nullptr : documents[1]) {}
  /// Rows of [b, s] and of [b, t].
  bool sees(int64_t query, int64_t key) const {
    return scores.sees(queryPositions[query], keyPositions[key]) &&
           (!queryDocuments || (*queryDocuments)[query] == (*keyDocuments)[key]);
  }
};

/// Sizes of local tensors, and where a head's row begins; q without groups is q with groups of one.
struct Heads {
  int64_t b, s, t, kv, g, d, e;

  Heads(const HostTensor &q, const HostTensor &k, const HostTensor &v)
      : b(q.shape[0]), s(q.shape[1]), t(k.shape[1]), kv(k.shape[2]), g(q.rank() == 5 ? q.shape[3] : 1),
        d(q.shape.back()), e(v.shape.back()) {}
  /// Index of a query row among all rows of q, y or lse.
  int64_t query(int64_t batch, int64_t row, int64_t head, int64_t group) const {
    return ((batch * s + row) * kv + head) * g + group;
  }
  int64_t key(int64_t batch, int64_t row, int64_t head) const { return (batch * t + row) * kv + head; }

  template <typename Fn> void forEachQuery(Fn fn) const {
    for (int64_t batch = 0; batch < b; ++batch)
      for (int64_t row = 0; row < s; ++row)
        for (int64_t head = 0; head < kv; ++head)
          for (int64_t group = 0; group < g; ++group)
            fn(batch, row, head, query(batch, row, head, group));
  }
};

const double *rowOf(const HostTensor &tensor, int64_t row) { return tensor.data.data() + row * tensor.shape.back(); }
double *rowOf(HostTensor &tensor, int64_t row) { return tensor.data.data() + row * tensor.shape.back(); }

template <typename OpT> void checkMask(ShapeCheck &check, OpT op) {
  if (double scale = op.getScale().convertToDouble(); !std::isfinite(scale))
    check.fault() << "scale is " << realText(scale) << ", expected a finite number";
  if (op.getWindow() && op.getWindowAttr().getInt() < 1)
    check.fault() << "window is " << op.getWindowAttr().getInt() << ", expected at least 1";
  if (op.getSoftcap() && !(op.getSoftcap()->convertToDouble() > 0))
    check.fault() << "softcap is " << realText(op.getSoftcap()->convertToDouble()) << ", expected more than 0";
  IntegerType i32 = IntegerType::get(op.getContext(), 32);
  check.element({"q_positions", op.getQPositions()}, i32).element({"k_positions", op.getKPositions()}, i32);
  size_t documents = op.getDocuments().size();
  if (documents != 0 && documents != 2)
    check.fault() << "has " << documents << " tensors of documents, expected 2: those of the queries and of the keys";
  for (Value each : op.getDocuments())
    check.element({"documents", each}, i32);
}

/// Pairs of query and key that the mask lets through, for one head: exact for whole sequences, half of all pairs for a
/// shard of a causal one (which half depends on the rank).
int64_t visiblePairs(MaskKind mask, std::optional<uint64_t> window, int64_t s, int64_t t) {
  if (mask == MaskKind::Full)
    return s * t;
  if (s != t)
    return (s * t + 1) / 2;
  int64_t width = window ? std::min<int64_t>(static_cast<int64_t>(*window), s) : s;
  return width * (width + 1) / 2 + (s - width) * width;
}

/// Multiply-adds of products of `depth` elements in total for every visible pair of every query head.
template <typename OpT> int64_t pairFlops(OpT op, int64_t depth) {
  ArrayRef<int64_t> q = tensorType(op.getQ()).getShape();
  int64_t heads = 1;
  for (int64_t size : q.drop_front(2).drop_back())
    heads *= size;
  return 2 * q[0] * heads * depth *
         visiblePairs(op.getMask(), op.getWindow(), q[1], tensorType(op.getK()).getDimSize(1));
}
} // namespace

// ---- attention ------------------------------------------------------------------------------------------------------
LogicalResult AttentionOp::verify() {
  ShapeCheck check(*this);
  check.floating({{"q", getQ()}, {"k", getK()}, {"v", getV()}}).widened({"y", getY()}, {"q", getQ()});
  if (getLse())
    check.element({"lse", getLse()}, Float32Type::get(getContext()));
  checkMask(check, *this);
  if (check.rank({"q", getQ()}, 4, 5))
    check.fits(attentionRule(*this), "q, k, v, q_positions, k_positions, q_documents, k_documents -> y, lse");
  return check.result();
}

FactorRule AttentionOp::getFactorRule() { return FactorRule::parse(*this, attentionRule(*this)); }

int64_t AttentionOp::getFlops() {
  return pairFlops(*this, tensorType(getQ()).getShape().back() + tensorType(getV()).getShape().back());
}

void AttentionOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &q = *operands[0], &k = *operands[1], &v = *operands[2];
  Scores scores(*this);
  Visibility visibility(scores, *operands[3], *operands[4], operands.drop_front(5));
  Heads heads(q, k, v);
  std::vector<double> row(heads.t);
  heads.forEachQuery([&](int64_t batch, int64_t s, int64_t head, int64_t query) {
    double max = unseen, sum = 0;
    for (int64_t t = 0; t < heads.t; ++t) {
      bool seen = visibility.sees(batch * heads.s + s, batch * heads.t + t);
      row[t] = seen ? scores.score(rowOf(q, query), rowOf(k, heads.key(batch, t, head)), heads.d).first : unseen;
      max = std::max(max, row[t]);
    }
    double *y = rowOf(results[0], query);
    std::fill(y, y + heads.e, 0.0);
    for (int64_t t = 0; t < heads.t; ++t)
      sum += row[t] = row[t] == unseen ? 0 : std::exp(row[t] - max);
    for (int64_t t = 0; t < heads.t; ++t)
      if (row[t] != 0)
        for (int64_t i = 0; i < heads.e; ++i)
          y[i] += row[t] / sum * rowOf(v, heads.key(batch, t, head))[i];
    if (results.size() > 1)
      results[1][query] = max == unseen ? unseen : max + std::log(sum);
  });
}

/// The op with its log-sum-exp kept: itself, or a new one in its place (the old one is erased).
static AttentionOp withLogSumExp(AttentionOp op) {
  if (op.getLse())
    return op;
  OpBuilder builder(op);
  auto type = RankedTensorType::get(tensorType(op.getQ()).getShape().drop_back(), builder.getF32Type());
  auto kept = AttentionOp::create(builder, op.getLoc(), op.getY().getType(), type, op.getQ(), op.getK(), op.getV(),
                                  op.getQPositions(), op.getKPositions(), op.getDocuments(), op.getMaskAttr(),
                                  op.getScaleAttr(), op.getWindowAttr(), op.getSoftcapAttr(), op.getRingAttr(),
                                  op.getPathAttr(), op.getPhaseAttr(), ArrayAttr());
  op.getY().replaceAllUsesWith(kept.getY());
  op.erase();
  return kept;
}

void AttentionOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                                MutableArrayRef<Value> operandGrads) {
  Value dy = resultGrads[0];
  if (!dy || !(needed[0] || needed[1] || needed[2]))
    return;
  AttentionOp forward = withLogSumExp(*this);
  auto grads = make<AttentionGradOp>(builder, forward.getLoc(), forward.getQ().getType(), forward.getK().getType(),
                                     forward.getV().getType(), dy, forward.getQ(), forward.getK(), forward.getV(),
                                     forward.getQPositions(), forward.getKPositions(), forward.getY(), forward.getLse(),
                                     forward.getDocuments(), forward.getMaskAttr(), forward.getScaleAttr(),
                                     forward.getWindowAttr(), forward.getSoftcapAttr(), forward.getRingAttr());
  for (int i = 0; i < 3; ++i)
    if (needed[i])
      operandGrads[i] = grads->getResult(i);
}

// ---- attention_grad -------------------------------------------------------------------------------------------------
LogicalResult AttentionGradOp::verify() {
  ShapeCheck check(*this);
  check.floating({{"dy", getDy()}, {"q", getQ()}, {"k", getK()}, {"v", getV()}, {"y", getY()}, {"dq", getDq()}})
      .widened({"dk", getDk()}, {"dy", getDy()})
      .widened({"dv", getDv()}, {"dy", getDy()})
      .element({"lse", getLse()}, Float32Type::get(getContext()));
  checkMask(check, *this);
  if (check.rank({"q", getQ()}, 4, 5))
    check.fits(attentionGradRule(*this),
               "dy, q, k, v, q_positions, k_positions, y, lse, q_documents, k_documents -> dq, dk, dv");
  return check.result();
}

FactorRule AttentionGradOp::getFactorRule() {
  SmallVector<Linearity> linearity(getNumOperands(), Linearity::None);
  linearity[0] = Linearity::Multi;
  return FactorRule::parse(*this, attentionGradRule(*this)).linear(linearity);
}

int64_t AttentionGradOp::getFlops() { // scores again, dq and dk over d; dy · v and dv over e
  return pairFlops(*this, 3 * tensorType(getQ()).getShape().back() + 2 * tensorType(getV()).getShape().back());
}

void AttentionGradOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &dy = *operands[0], &q = *operands[1], &k = *operands[2], &v = *operands[3];
  const HostTensor &y = *operands[6], &lse = *operands[7];
  Scores scores(*this);
  Visibility visibility(scores, *operands[4], *operands[5], operands.drop_front(8));
  Heads heads(q, k, v);
  for (HostTensor &result : results)
    std::fill(result.data.begin(), result.data.end(), 0.0);
  heads.forEachQuery([&](int64_t batch, int64_t s, int64_t head, int64_t query) {
    const double *dyRow = rowOf(dy, query), *qRow = rowOf(q, query);
    double delta = 0;
    for (int64_t i = 0; i < heads.e; ++i)
      delta += dyRow[i] * rowOf(y, query)[i];
    for (int64_t t = 0; t < heads.t; ++t) {
      if (!visibility.sees(batch * heads.s + s, batch * heads.t + t))
        continue;
      int64_t key = heads.key(batch, t, head);
      auto [score, slope] = scores.score(qRow, rowOf(k, key), heads.d);
      double weight = std::exp(score - lse[query]), dweight = 0;
      for (int64_t i = 0; i < heads.e; ++i) {
        dweight += dyRow[i] * rowOf(v, key)[i];
        rowOf(results[2], key)[i] += weight * dyRow[i];
      }
      double dproduct = weight * (dweight - delta) * slope;
      for (int64_t i = 0; i < heads.d; ++i) {
        rowOf(results[0], query)[i] += dproduct * rowOf(k, key)[i];
        rowOf(results[1], key)[i] += dproduct * qRow[i];
      }
    }
  });
}

// ---- attention_merge ------------------------------------------------------------------------------------------------
static std::string mergeRule(AttentionMergeOp op) {
  std::string rows = leadingNames(tensorType(op.getA()).getRank() - 1), y = joinNames(rows, "!e");
  return y + ", " + rows + ", " + y + ", " + rows + " -> " + y + ", " + rows;
}

LogicalResult AttentionMergeOp::verify() {
  Type f32 = Float32Type::get(getContext());
  ShapeCheck check(*this);
  check.floating({{"a", getA()}, {"b", getB()}})
      .widened({"a", getA()}, {"y", getY()})
      .element({"a_lse", getALse()}, f32)
      .element({"b_lse", getBLse()}, f32)
      .element({"lse", getLse()}, f32);
  if (check.rank({"a", getA()}, 4, 5))
    check.fits(mergeRule(*this), "a, a_lse, b, b_lse -> y, lse");
  return check.result();
}

FactorRule AttentionMergeOp::getFactorRule() { return FactorRule::parse(*this, mergeRule(*this)); }

void AttentionMergeOp::evaluate(ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &a = *operands[0], &aLse = *operands[1], &b = *operands[2], &bLse = *operands[3];
  int64_t size = a.shape.back();
  for (int64_t row = 0; row < aLse.size(); ++row) {
    double max = std::max(aLse[row], bLse[row]);
    double left = max == unseen ? 0 : std::exp(aLse[row] - max), right = max == unseen ? 0 : std::exp(bLse[row] - max);
    double sum = max == unseen ? 1 : left + right;
    for (int64_t i = row * size; i < (row + 1) * size; ++i)
      results[0][i] = (left * a[i] + right * b[i]) / sum;
    results[1][row] = max == unseen ? unseen : max + std::log(sum);
  }
}
