// Where parameters, blocks and layers are written: the scope that a model's or a block's function is given.
#pragma once
#include "hocket/Ops.h"
#include <functional>
#include <span>
#include <tuple>

namespace hocket {
/// How a parameter starts; its values follow from the recipe's seed, its name and the index of the element.
struct Init {
  enum Kind { Zeros, Ones, Normal, Constant } kind;
  double scale = 0;
};
inline constexpr Init zeros{Init::Zeros}, ones{Init::Ones};
inline constexpr Init normal(double deviation) { return {Init::Normal, deviation}; }
inline constexpr Init constant(double value) { return {Init::Constant, value}; }

class Scope;
namespace detail {
struct BlockInfo;
/// Writes a function's body: its arguments in, what it returns out.
using Body = std::function<std::vector<Tensor>(Scope, const std::vector<Tensor> &)>;
template <typename> struct Results; ///< between what a block's function returns and a list
template <> struct Results<Tensor> {
  static std::vector<Tensor> list(Tensor tensor) { return {tensor}; }
  static Tensor of(const std::vector<Tensor> &list) { return list.front(); }
  static constexpr size_t count = 1;
};
template <size_t Count> struct Results<std::array<Tensor, Count>> {
  static std::vector<Tensor> list(const std::array<Tensor, Count> &tensors) { return {tensors.begin(), tensors.end()}; }
  static std::array<Tensor, Count> of(const std::vector<Tensor> &list) {
    return take(list, std::make_index_sequence<Count>());
  }
  static constexpr size_t count = Count;
};
template <typename Result>
concept BlockResult = requires { Results<Result>::count; };
} // namespace detail

/// A block: a C++ function that writes a piece of a model, kept once in the model's text however often it is used. It
/// is written when it is called first, with the shapes of that call. Made by Module::block.
template <typename Fn> class Block {
public:
  Block(detail::BlockInfo *info, Fn write) : info(info), write(std::move(write)) {}

private:
  friend class Scope;
  detail::BlockInfo *info;
  Fn write;
};

/// A place in a model or a block, with the first part of the names that are given in it.
class Scope {
public:
  /// A parameter of natural shape, one dimension for each thing that could be split, in f32 (the recipe's precision
  /// says in what it is kept and computed).
  Tensor param(Name name, const std::vector<int64_t> &shape, Init init);
  /// The same place, names beginning with `name` and a dot: mlp(m.sub("mlp"), x).
  Scope sub(std::string_view name) const;
  /// What is wrong with the model in the user's own view: "hidden 250 is not a multiple of 8 heads".
  void fault(std::string_view message, Where where = Where::current()) const;

  /// A block in place; its parameters are named NAME.…. Arguments are those of the block's function.
  template <typename Fn, typename... Args> auto call(Name name, const Block<Fn> &block, Args... args);
  /// A block `count` times over, as layers NAME.0, NAME.1, …; stages are cut between layers. It maps its first
  /// arguments to themselves, one for each result; further arguments (positions) are given to every layer unchanged.
  template <typename Fn, typename... Args> auto repeat(Name name, int64_t count, const Block<Fn> &block, Args... args);

private:
  friend struct detail::Access;
  explicit Scope(detail::Function *home) : home(home) {}
  std::vector<Tensor> place(const Name &name, const int64_t *count, detail::BlockInfo *block,
                            const std::vector<Tensor> &args, size_t results, const detail::Body &body);
  template <typename Fn, typename... Args>
  auto place(const Name &name, const int64_t *count, const Block<Fn> &block, Args... args);

  detail::Function *home;
  std::string prefix;
};

template <typename Fn, typename... Args>
auto Scope::place(const Name &name, const int64_t *count, const Block<Fn> &block, Args... args) {
  static_assert((std::is_same_v<Args, Tensor> && ...), "a block is called with tensors");
  static_assert(std::is_invocable_v<const Fn &, Scope, Args...>,
                "the block's function takes a Scope and then as many tensors as the call gives");
  using Result = std::invoke_result_t<const Fn &, Scope, Args...>;
  static_assert(detail::BlockResult<Result>, "a block's function returns a Tensor or a std::array of them");
  detail::Body body = [&block](Scope scope, const std::vector<Tensor> &in) {
    auto given = detail::take(in, std::index_sequence_for<Args...>());
    return detail::Results<Result>::list(std::apply([&](auto... each) { return block.write(scope, each...); }, given));
  };
  return detail::Results<Result>::of(
      place(name, count, block.info, std::vector<Tensor>{args...}, detail::Results<Result>::count, body));
}
template <typename Fn, typename... Args> auto Scope::call(Name name, const Block<Fn> &block, Args... args) {
  return place(name, nullptr, block, args...);
}
template <typename Fn, typename... Args>
auto Scope::repeat(Name name, int64_t count, const Block<Fn> &block, Args... args) {
  return place(name, &count, block, args...);
}
} // namespace hocket
