// The mathematics: each function writes the op of its name (dialect/NN/NNCompute.td has their meaning), and finds the
// shape of the result. Letters: b batch, s sequence, h hidden, v vocabulary, n heads, kv KV heads, g query heads of one
// KV head, d head size.
#pragma once
#include "hocket/Tensor.h"
#include <array>
#include <cmath>
#include <optional>

namespace hocket {
/// A dimension, in the words `dim(2)`.
struct Dim {
  int64_t index;
  Where where;
};
inline Dim dim(int64_t index, Where where = Where::current()) { return {index, where}; }

/// 0 … s-1 in each row, i32, for tokens [b, s].
Tensor positions(Tensor tokens, Where where = Where::current());
/// Rows of `table` [v, h] by their number: ids [b, s] -> [b, s, h].
Tensor embedding(Tensor ids, Tensor table, Where where = Where::current());

/// How many dimensions a linear contracts, where it is not all that follow batch and sequence.
struct Contract {
  int64_t dims;
};
inline Contract contract(int64_t dims) { return {dims}; }
/// A weight [out, in] in a linear: the tied head is linear(x, transposed(table)).
struct Transposed {
  Tensor weight;
};
inline Transposed transposed(Tensor weight) { return {weight}; }

/// x w (+ bias): the last k dimensions of x with the first k of w. k is all that x has after batch and sequence, which
/// does not depend on sizes: x [b, s, h] contracts 1, attention's [b, s, n, d] contracts 2; `contract` says otherwise.
Tensor linear(Tensor x, Tensor w, Where where = Where::current());
Tensor linear(Tensor x, Tensor w, Tensor bias, Where where = Where::current());
Tensor linear(Tensor x, Tensor w, Contract dims, Where where = Where::current());
Tensor linear(Tensor x, Transposed w, Where where = Where::current());
/// Any product of two tensors by a rule: matmul(a, b, "b s n d, h n d -> b s h").
Tensor matmul(Tensor a, Tensor b, std::string_view rule, Where where = Where::current());

/// Over the last dimension.
Tensor layer_norm(Tensor x, Tensor gain, Tensor bias, double eps = 1e-5, Where where = Where::current());
Tensor rms_norm(Tensor x, Tensor gain, double eps = 1e-5, Where where = Where::current());

struct Rope {
  double theta = 10000;
  std::optional<int64_t> dims = std::nullopt; ///< of the last dimension, how much is turned; all unless said
  bool interleaved = false;                   ///< pairs (2i, 2i+1) instead of (i, i + dims/2)
  std::optional<double> position_scale = std::nullopt;
};
/// Rotary positions on the last dimension of x [b, s, …, d]; positions [b, s].
Tensor rope(Tensor x, Tensor positions, const Rope &options = {}, Where where = Where::current());

enum class Mask { full, causal };
struct Attention {
  Mask mask = Mask::causal;
  std::optional<double> scale = std::nullopt;   ///< 1/sqrt(d) unless said
  std::optional<int64_t> window = std::nullopt; ///< also query - key < window
  std::optional<double> softcap = std::nullopt; ///< scores become c tanh(scores / c)
};
/// Positions of queries and keys [b, s]; causal masks compare them.
struct At {
  Tensor queries, keys;
  std::vector<Tensor> documents = {}; ///< of queries and keys, or none
  /// No key of another document is seen: at(positions).within(documents).
  At within(Tensor documents) const { return within(documents, documents); }
  At within(Tensor ofQueries, Tensor ofKeys) const { return {queries, keys, {ofQueries, ofKeys}}; }
};
inline At at(Tensor positions) { return {positions, positions, {}}; }
inline At at(Tensor queries, Tensor keys) { return {queries, keys, {}}; }
/// q [b, s, n, d] or, for grouped heads, [b, s, kv, g, d]; k [b, t, kv, d]; v [b, t, kv, e]. The result is as q, with
/// e.
Tensor attention(Tensor q, Tensor k, Tensor v, At positions, const Attention &options = {},
                 Where where = Where::current());

Tensor gelu(Tensor x, Where where = Where::current()); ///< tanh form
Tensor silu(Tensor x, Where where = Where::current());
/// b may have only the trailing dimensions of a (a bias).
Tensor add(Tensor a, Tensor b, Where where = Where::current());
Tensor mul(Tensor a, Tensor b, Where where = Where::current());

/// An operand and the place of its operator.
struct Placed {
  Placed(Tensor tensor, Where where = Where::current()) : tensor(tensor), where(where) {}
  Tensor tensor;
  Where where;
};
inline Tensor operator+(Placed a, Tensor b) { return add(a.tensor, b, a.where); }
inline Tensor operator*(Placed a, Tensor b) { return mul(a.tensor, b, a.where); }

/// The slices of x along a dimension, without it: auto [q, k, v] = unstack<3>(qkv, dim(2)). A count that is not the
/// size of the dimension is a fault.
std::vector<Tensor> unstack(Tensor x, Dim dim, int64_t count);
namespace detail {
Tensor stack(Dim dim, const std::vector<Tensor> &tensors);
template <size_t... I>
std::array<Tensor, sizeof...(I)> take(const std::vector<Tensor> &from, std::index_sequence<I...>) {
  return {from[I]...};
}
} // namespace detail
template <size_t Count> std::array<Tensor, Count> unstack(Tensor x, Dim dim) {
  return detail::take(unstack(x, dim, static_cast<int64_t>(Count)), std::make_index_sequence<Count>());
}
/// Tensors of one shape side by side along a new dimension: stack(dim(2), k, v).
template <typename... Tensors> Tensor stack(Dim dim, Tensor first, Tensors... rest) {
  return detail::stack(dim, {first, rest...});
}
/// Tensors one after another along a dimension that they have: concat(dim(3), rotary, rest).
namespace detail {
Tensor concat(Dim dim, const std::vector<Tensor> &tensors);
}
template <typename... Tensors> Tensor concat(Dim dim, Tensor first, Tensors... rest) {
  return detail::concat(dim, {first, rest...});
}
/// Elements [from, from + size) of a dimension; and zeros around x, which is put from element `from` on, up to `size`.
Tensor part(Tensor x, Dim dim, int64_t from, int64_t size);
Tensor pad(Tensor x, Dim dim, int64_t from, int64_t size);
/// x `count` times along a new dimension (one key for all heads); and the sum over a dimension.
Tensor spread(Tensor x, Dim dim, int64_t count);
Tensor sum_over(Tensor x, Dim dim);
/// Drops elements of x [b, s, …] with probability `rate` in training and divides the others by 1 - rate; positions [b,
/// s].
Tensor dropout(Tensor x, Tensor positions, double rate, Where where = Where::current());
/// The sum over the first `leading` dimensions.
Tensor sum(Tensor x, int64_t leading, Where where = Where::current());

/// A mixture of experts (dialect/NN/NNExperts.td): logits [b, s, e] of x [b, s, h] and w [h, e], in f32.
Tensor router_logits(Tensor x, Tensor w, Where where = Where::current());
enum class Scores { softmax, sigmoid };
struct Router {
  int64_t top = 1;       ///< experts of each token
  double capacity = NAN; ///< the recipe's; to be given
  Scores scores = Scores::softmax;
  bool normalized = false; ///< a token's weights sum to `scale`
  double scale = 1;
};
/// Who goes where: `slots` and `weights` [b, s, k], `tokens` [b, e, c], and each sequence's `load` [b].
struct Route {
  Tensor weights, slots, tokens, load;
};
Route router(Tensor logits, Tensor positions, const Router &options, Where where = Where::current());
/// x [b, s, h] to the experts: [e, b, c, h]; products with weights [e, h, f] by matmul(x, w, "e b c h, e h f -> e b c
/// f").
Tensor dispatch(Tensor x, const Route &route, Where where = Where::current());
/// Back to [b, s, h], weighted.
Tensor combine(Tensor x, const Route &route, Where where = Where::current());

/// logits [b, s, v], labels [b, s]; a token whose label is -1 is not counted.
Loss cross_entropy(Tensor logits, Tensor labels, Where where = Where::current());
} // namespace hocket
