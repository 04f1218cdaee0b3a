// The mesh, and the plan: an ordered list of tactics. Each call writes the tactic of its name.
#pragma once
#include "hocket/Ops.h"
#include "hocket/Recipe.h"

namespace hocket {
/// An axis of a mesh with the number of its ranks.
struct MeshAxis {
  std::string name;
  int64_t size;
};

/// A mesh axis by name, or a part of one. subaxis("tp", 2, 4) is of size 4 and lies behind a factor of 2.
struct Axis {
  Axis(const char *name) : name(name) {}
  Axis(std::string name) : name(std::move(name)) {}
  Axis(std::string name, int64_t pre, int64_t size) : name(std::move(name)), part({pre, size}) {}
  std::string name;
  std::optional<std::array<int64_t, 2>> part = std::nullopt; ///< factor before it, size
};
inline Axis subaxis(std::string name, int64_t pre, int64_t size) { return {std::move(name), pre, size}; }

/// The words of tactics: over("dp"), microbatch(2), schedule("1f1b").
struct Over {
  std::vector<Axis> axes;
};
template <typename... Axes> Over over(Axes... axes) { return {{Axis(std::move(axes))...}}; }
struct Microbatch {
  int64_t sequences;
};
inline Microbatch microbatch(int64_t sequences) { return {sequences}; }
struct Schedule {
  std::string name;
};
inline Schedule schedule(std::string name) { return {std::move(name)}; }
/// Splits that Megatron-LM makes: columns, rows, heads and vocabulary, found by factors and not by names.
struct Megatron {};
inline constexpr Megatron megatron;

/// When a parameter that ZeRO-3 splits at rest is gathered; chosen by price where nothing is said.
enum class Gather { PerUse, Kept, Once, OncePartial, Chosen };
struct ZeroOptions {
  Gather gather = Gather::Chosen;
  std::optional<int64_t> bucket; ///< bytes that collectives of parameters carry together
};

/// Made by Module::mesh. Ranks are numbered through the axes as declared, the last one fastest.
class Mesh {
private:
  friend struct detail::Access;
  explicit Mesh(std::string name) : name(std::move(name)) {}
  std::string name;
};

/// Made by Module::plan. Later tactics never override earlier ones; a conflict is a fault.
class Plan {
public:
  /// The batch split over axes (none: over()), and how many sequences of it a rank takes at a time.
  Plan &batch(const Over &over, Microbatch microbatch, Where where = Where::current());
  /// One dimension of every parameter whose name fits.
  Plan &split(std::string_view pattern, Dim dim, const Over &over, Where where = Where::current());
  Plan &split(Megatron form, const Over &over, Where where = Where::current());
  /// Layers cut into stages along an axis: gpipe, 1f1b, ….
  Plan &stages(const Over &over, const Schedule &schedule, Where where = Where::current());
  /// ZeRO: split over the data axes are 0 nothing, 1 optimizer state, 2 also accumulators, 3 also parameters.
  Plan &zero(int64_t stage, const Over &over, Where where = Where::current());
  Plan &zero(int64_t stage, const Over &over, ZeroOptions options, Where where = Where::current());

private:
  friend struct detail::Access;
  Plan(detail::State *state, void *op) : state(state), op(op) {}
  detail::State *state;
  void *op;
};
} // namespace hocket
