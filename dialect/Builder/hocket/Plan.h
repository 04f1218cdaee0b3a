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
  std::optional<int64_t> chunks;                   ///< pieces of the model that each stage holds
  std::optional<std::string> table = std::nullopt; ///< of the schedule `file`
};
inline Schedule schedule(std::string name, std::optional<int64_t> chunks = std::nullopt) {
  return {std::move(name), chunks};
}
inline Schedule scheduleFile(std::string table, std::optional<int64_t> chunks = std::nullopt) {
  return {"file", chunks, std::move(table)};
}
/// Where stages end: as even as can be, by cost (balanced), or after so many layers each: cuts({8, 8, 7, 7}).
struct StageSizes {
  bool byCost = false;
  std::vector<int64_t> layers;
};
inline StageSizes balanced() { return {true, {}}; }
inline StageSizes cuts(std::vector<int64_t> layers) { return {false, std::move(layers)}; }
/// Splits that Megatron-LM makes: columns, rows, heads and vocabulary, found by factors and not by names.
struct Megatron {};
inline constexpr Megatron megatron;
/// Splits of least cost, found by factors: `split auto`.
struct Automatic {};
inline constexpr Automatic automatic;
/// Whether ranks may hold different numbers of heads (whole KV groups).
enum Heads : uint8_t { even, uneven };

/// Of sequence parallelism: what is gathered forward is kept for backward, at the price of memory.
struct KeepGathered {};
inline constexpr KeepGathered keep_gathered;
/// How attention sees keys that other ranks hold.
enum class Context { ring, all_gather, all_to_all };

/// When a parameter that ZeRO-3 splits at rest is gathered; chosen by price where nothing is said.
enum class Gather { PerUse, Kept, Once, OncePartial, Chosen };
struct ZeroOptions {
  Gather gather = Gather::Chosen;
  std::optional<int64_t> bucket; ///< bytes that collectives of parameters carry together
};

/// What is made again in backward: all but what a layer is given, what is cheap for its bytes, or what a bound on
/// memory asks for.
enum class Recompute { full, selective, automatic };
/// What lies in the host's memory while the device does not need it.
enum class Offload { activations, optimizer_state, parameters };
/// Collectives that have a stream of their own.
enum class Overlap { gradients, parameters, activations };

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
  Plan &split(std::string_view pattern, Dim dim, const Over &over, Heads heads = even, Where where = Where::current());
  Plan &split(Megatron form, const Over &over, Heads heads = even, Where where = Where::current());
  Plan &split(Automatic form, const Over &over, Where where = Where::current());
  /// The experts of every mixture; axes that also split the batch are its last ones.
  Plan &experts(const Over &over, Where where = Where::current());
  /// Sequence parallelism: what no parameter's split reaches is split along the sequence.
  Plan &sequence(const Over &over, Where where = Where::current());
  Plan &sequence(const Over &over, KeepGathered keep, Where where = Where::current());
  /// Context parallelism: the sequence of every input split over axes.
  Plan &context(const Over &over, Context kind, Where where = Where::current());
  /// Layers cut into stages along an axis: gpipe, 1f1b, ….
  Plan &stages(const Over &over, const Schedule &schedule, Where where = Where::current());
  Plan &stages(const Over &over, const StageSizes &sizes, const Schedule &schedule, Where where = Where::current());
  /// ZeRO: split over the data axes are 0 nothing, 1 optimizer state, 2 also accumulators, 3 also parameters.
  Plan &zero(int64_t stage, const Over &over, Where where = Where::current());
  Plan &zero(int64_t stage, const Over &over, ZeroOptions options, Where where = Where::current());
  /// The pattern names layers or parts of them, of parameters in the host's memory those; without one all are meant.
  Plan &recompute(Recompute kind, std::optional<std::string_view> pattern = {}, Where where = Where::current());
  Plan &offload(Offload what, std::optional<std::string_view> pattern = {}, Where where = Where::current());
  Plan &overlap(Overlap what, Where where = Where::current());

private:
  friend struct detail::Access;
  Plan(detail::State *state, void *op) : state(state), op(op) {}
  detail::State *state;
  void *op;
};
} // namespace hocket
