// A user's own scalar function: elementwise("relu2", [](Scalar x) { Scalar r = max(x, 0.0); return r * r; }, x). It is
// differentiated, and compiled, from the expression.
#pragma once
#include "hocket/Ops.h"
#include <functional>

namespace hocket {
namespace detail {
struct ScalarBody; ///< the body that is being written
} // namespace detail

/// One element, in the expression of an elementwise function. May be used in that function and nowhere else.
class Scalar {
private:
  friend struct detail::Access;
  Scalar(detail::ScalarBody *body, void *value) : body(body), value(value) {}
  detail::ScalarBody *body;
  void *value;
};
/// The outcome of a comparison, for `select`.
class Condition {
private:
  friend struct detail::Access;
  Condition(detail::ScalarBody *body, void *value) : body(body), value(value) {}
  detail::ScalarBody *body;
  void *value;
};

#define HOCKET_SCALAR_BINARY(NAME)                                                                                     \
  Scalar NAME(Scalar a, Scalar b);                                                                                     \
  Scalar NAME(Scalar a, double b);                                                                                     \
  Scalar NAME(double a, Scalar b);
HOCKET_SCALAR_BINARY(operator+)
HOCKET_SCALAR_BINARY(operator-)
HOCKET_SCALAR_BINARY(operator*)
HOCKET_SCALAR_BINARY(operator/)
HOCKET_SCALAR_BINARY(max)
HOCKET_SCALAR_BINARY(min)
HOCKET_SCALAR_BINARY(pow)
#undef HOCKET_SCALAR_BINARY
Condition operator<(Scalar a, Scalar b);
Condition operator<(Scalar a, double b);
Condition operator>(Scalar a, Scalar b);
Condition operator>(Scalar a, double b);
/// a where the condition holds, else b.
Scalar select(Condition condition, Scalar a, Scalar b);
Scalar select(Condition condition, Scalar a, double b);
Scalar select(Condition condition, double a, Scalar b);

Scalar operator-(Scalar x);
Scalar abs(Scalar x);
Scalar cos(Scalar x);
Scalar erf(Scalar x);
Scalar exp(Scalar x);
Scalar log(Scalar x);
Scalar rsqrt(Scalar x);
Scalar sin(Scalar x);
Scalar sqrt(Scalar x);
Scalar tanh(Scalar x);

namespace detail {
using ScalarFunction = std::function<Scalar(const std::vector<Scalar> &)>;
Tensor elementwise(const Name &name, const std::vector<Tensor> &tensors, const ScalarFunction &function);
template <size_t... I>
std::array<Scalar, sizeof...(I)> takeScalars(const std::vector<Scalar> &from, std::index_sequence<I...>) {
  return {from[I]...};
}
} // namespace detail

/// function(Scalar…) -> Scalar on every element of tensors; one of lower rank is repeated along the leading dimensions.
/// `name` names it in reports.
template <typename Fn, typename... Tensors> Tensor elementwise(Name name, Fn function, Tensor first, Tensors... rest) {
  static_assert((std::is_same_v<Tensors, Tensor> && ...), "elementwise takes its function and then tensors");
  auto each = [&](const std::vector<Scalar> &in) {
    auto given = detail::takeScalars(in, std::make_index_sequence<1 + sizeof...(Tensors)>());
    return std::apply([&](auto... scalars) -> Scalar { return function(scalars...); }, given);
  };
  return detail::elementwise(name, {first, rest...}, each);
}
} // namespace hocket
