// A tensor of a model that is being written, and where in the user's source each thing was said.
#pragma once
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hocket {
/// The line of the user's program that asks for something; every message about it points there. Each call takes one as
/// its last argument and finds it by itself; a function of yours that should not show up passes on its caller's.
using Where = std::source_location;

/// A name in the model, and where it was written.
struct Name {
  template <typename Text>
    requires std::is_convertible_v<const Text &, std::string_view>
  Name(const Text &text, Where where = Where::current()) : text(std::string_view(text)), where(where) {}
  std::string text;
  Where where;
};

namespace detail {
struct Function; ///< the model or block that a tensor belongs to
struct Access;
} // namespace detail

/// The size of a batch in a shape: it is the recipe's and the plan's, and no model knows it.
inline constexpr int64_t batch = -1;

/// A value of a model: an argument, a parameter or the result of an operation. A small handle, to be passed by value.
/// It may be used in the function that made it and nowhere else, as long as its module lives.
class Tensor {
public:
  /// False if a fault, told already, left its shape open. Operations on it are skipped, and no fault is told of them.
  bool known() const { return value != nullptr; }
  /// Sizes of its dimensions, `batch` for that of the batch; empty where it is not known.
  std::vector<int64_t> shape() const;
  int64_t rank() const { return static_cast<int64_t>(shape().size()); }
  /// One size; negative indices count from the end. Outside of the shape: a fault, and 1.
  int64_t dim(int64_t index, Where where = Where::current()) const;

private:
  friend struct detail::Access;
  Tensor(detail::Function *home, void *value) : home(home), value(value) {}
  detail::Function *home;
  void *value;
};

/// What a model returns: the sum over all counted tokens, in nats, and how many tokens were counted.
struct Loss {
  Tensor sum, count;
};
} // namespace hocket
