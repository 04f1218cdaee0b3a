// The recipe: all that changes numerics and is no mathematics of the model. Each call writes the entry of its name.
#pragma once
#include "hocket/Tensor.h"
#include <array>
#include <cmath>
#include <optional>

namespace hocket {
namespace detail {
struct State;
} // namespace detail

enum class Element { f32, bf16, f16 };
inline constexpr Element f32 = Element::f32, bf16 = Element::bf16, f16 = Element::f16;

struct Precision {
  Element params = f32;
  Element compute = f32;
  Element accumulate = f32;
  std::optional<Element> reduce = std::nullopt, master = std::nullopt;
};
/// AdamW (Loshchilov and Hutter 2019, algorithm 2), with the defaults of PyTorch. Matrices decay, vectors do not unless
/// a group says so.
struct AdamW {
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0.01;
};
/// Linear warm-up to `peak` over `warmup` steps, cosine to `floor` at step `decay`.
struct Cosine {
  double peak = NAN; ///< to be given, as is `decay`
  int64_t warmup = 0;
  int64_t decay = 0;
  double floor = 0;
};
struct Constant {
  double peak = NAN; ///< to be given
  int64_t warmup = 0;
};
/// The factor on the loss that f16 needs. Dynamic: times `growth` after `interval` steps without overflow, times
/// `backoff` after `hysteresis` overflows, down to `floor`.
struct DynamicScale {
  double initial = 65536, growth = 2, backoff = 0.5;
  int64_t interval = 2000, hysteresis = 2;
  double floor = 1;
};
struct StaticScale {
  double scale = NAN; ///< to be given
};
/// What parameters whose names fit a pattern have of their own.
struct Group {
  std::optional<double> lr_scale = std::nullopt, weight_decay = std::nullopt;
  bool frozen = false;
};

/// Made by Module::recipe. Entries may stand in any order; `batch`, `optimizer` and `learning_rate` are needed.
class Recipe {
public:
  Recipe &batch(int64_t sequences, Where where = Where::current()); ///< of one step, over all ranks
  Recipe &precision(const Precision &types, Where where = Where::current());
  Recipe &optimizer(const AdamW &adamw, Where where = Where::current());
  Recipe &learning_rate(const Cosine &cosine, Where where = Where::current());
  Recipe &learning_rate(const Constant &rate, Where where = Where::current());
  Recipe &clip(double norm, Where where = Where::current()); ///< greatest norm of all gradients together
  Recipe &loss_scale(const DynamicScale &scale, Where where = Where::current());
  Recipe &loss_scale(const StaticScale &scale, Where where = Where::current());
  Recipe &capacity(double factor, Where where = Where::current());            ///< of experts: 1 is an even share
  Recipe &auxiliary_loss(double coefficient, Where where = Where::current()); ///< of routers
  Recipe &seed(int64_t seed, Where where = Where::current());
  Recipe &group(std::string_view pattern, const Group &settings, Where where = Where::current());

private:
  friend struct detail::Access;
  Recipe(detail::State *state, void *op) : state(state), op(op) {}
  detail::State *state;
  void *op;
};
} // namespace hocket
