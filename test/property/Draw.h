// One draw of the property test: a small model and a plan for it, as numbers that can be made smaller one by one.
#pragma once
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace hocket::property {

/// Kinds of layers. A draw mixes them freely; a "GPT" is LayerNorm, Fused, Learned, Plain.
enum Norm : int64_t { LayerNorm, RmsNorm };
/// qkv [h,3,n,d]; q [h,kv,g,d] and kv [h,2,kv,d]; q, k, v with e != d; DeepSeek's, by way of fewer numbers a token.
enum Heads : int64_t { Fused, Grouped, Separate, Latent };
enum Places : int64_t { Learned, Rotary };
enum Inner : int64_t { Plain, Gated };
enum ExpertRanks : int64_t { NoRanks, DataRanks, DataPart, TensorRanks, AllRanks }; ///< what `experts` splits over
enum Context : int64_t { Ring, AllGather, AllToAll };
enum Gather : int64_t { Priced, PerUse, Kept, Once };
enum Splits : int64_t {
  Megatron,
  Named,
  Free,
  Auto
}; ///< `split megatron`; some of its splits by name; any at all; `split auto`

/// What is wrong with the plan on purpose, so that the compiler must say so.
enum class Wrong : int64_t {
  Nothing,
  HeadsOverRanks,
  BatchNoMultiple,
  StagesExceedLayers,
  MicrobatchesTooFew,
  ChunksOfSchedule,
  IdleAxis,
  ZeroBesideBatch,
  AxisTwice,
  SequenceNoMultiple,
  ExpertsOverRanks,
  Last = ExpertsOverRanks
};

/// All fields are numbers so that one table (fields) serves drawing, printing and shrinking.
struct Draw {
  // the model
  int64_t layers = 1, hidden = 4, norm = LayerNorm, heads = Fused, places = Learned, inner = Plain;
  int64_t kvHeads = 1, group = 1, headSize = 2, valueSize = 2, ffn = 3, vocabulary = 5, sequence = 2;
  int64_t bias = 0, tied = 0, activation = 0, documents = 0, window = 0, softcap = 0, rotaryPart = 0, interleaved = 0;
  int64_t dropout = 0;         ///< percent
  int64_t mixed = 0, skip = 0; ///< every second layer is dense; what enters the layers is added again behind them
  int64_t experts = 0, top = 1, sigmoid = 0, normalized = 0, shared = 0; ///< 0 experts: a feed-forward as others
  // the recipe
  int64_t clip = 0, precision = 0, groupKind = 0;
  int64_t capacity = 10, auxiliary = 0; ///< tenths; of mixtures
  // the plan
  int64_t dp = 1, tp = 1, pp = 1, dp2 = 1, tp2 = 1; ///< dp2, tp2: second axes of the same use
  int64_t order = 0;                                ///< which permutation of the axes
  int64_t oneAxis = 0;                              ///< the mesh has one axis, and what would be axes are its parts
  int64_t reversed = 0;                             ///< the lists of axes are written last first
  int64_t zeroPart = 0;                             ///< ZeRO splits over the first of its axes only
  int64_t unitAxes = 0;                             ///< axes of one device are declared and used
  int64_t microbatch = 1, microbatches = 1;
  int64_t uneven = 0; ///< heads may be
  int64_t expertRanks = NoRanks;
  int64_t splits = Megatron, splitMask = ~int64_t(0), splitSeed = 0;
  int64_t schedule = 0, chunks = 1;
  int64_t cp = 1, context = Ring;
  int64_t sequenceSplit = 0; ///< 1: `sequence over` the tensor axes; 2: and `keep gathered`
  int64_t zero = 0, gather = Priced, bucket = 0;
  int64_t wrong = 0;
  // the run
  int64_t seed = 0, steps = 2;

  int64_t ranks() const { return dp * tp * pp * cp * dp2 * tp2; }
  int64_t data() const { return dp * dp2; }
  int64_t tensor() const { return tp * tp2; }
  bool hasDense() const { return !experts || shared || (mixed && layers > 1); }
  int64_t batch() const { return microbatch * microbatches * data(); }
  /// Tokens of a sequence that an expert takes: ceil(k s factor / e).
  int64_t expertPlaces() const { return (top * sequence * capacity + 10 * experts - 1) / (10 * experts); }
  int64_t expertDegree() const {
    return expertRanks == DataRanks     ? dp
           : expertRanks == DataPart    ? 2
           : expertRanks == TensorRanks ? tp
           : expertRanks == AllRanks    ? dp * tp
                                        : 1;
  }
  /// What the sequence must be a multiple of.
  int64_t sequenceUnit() const {
    int64_t ranks = sequenceSplit ? tensor() : 1;
    return cp == 1 ? ranks : sequenceSplit ? cp * std::lcm(int64_t(2), ranks) : 2 * cp;
  }
  int64_t queryHeads() const { return heads == Grouped ? kvHeads * group : kvHeads; }
};

/// Tactics that are drawn. A compiler that lacks one gets no draws with it.
struct Tactics {
  bool sequence = true, context = true, zero3 = true, experts = true, uneven = true, dropout = true;
};
inline constexpr Tactics drawn;

struct Field {
  const char *name;
  int64_t Draw::*value;
  int64_t simplest; ///< where shrinking goes; -1: it stays
};
const std::vector<Field> &fields();

/// Draw number `index` of a seed; depends on nothing else. `large`: sizes at which ZeRO, which leaves small parameters
/// whole, has something to split (for executables).
Draw drawOf(uint64_t seed, uint64_t index, bool large = false);
/// Fields that differ from the simplest model's, "layers=2 tp=4".
std::string describe(const Draw &draw);

/// Mesh axes of the draw in order, those of one device only where unitAxes says so.
std::vector<std::pair<std::string, int64_t>> axesOf(const Draw &draw);
/// `"tp"`, `{"tp", "tp2"}`, `{"all":(2)4}`: the axes of one use; empty if there are none.
std::string tensorAxes(const Draw &draw);
std::string dataAxes(const Draw &draw);

const std::vector<std::string> &schedules();

/// What a compiler owes to a draw.
struct Expectation {
  enum Kind { Runs, Refuses, Either } kind = Runs; ///< Either: right numbers, or a plain error
  std::string sentence;                            ///< a regular expression that an error must match, for Refuses
};
Expectation expectationOf(const Draw &draw);
/// Whether the draw is what a plan may ask for, but for what is wrong on purpose. Every draw is; smaller ones may not
/// be.
bool isLegal(const Draw &draw);

/// The file: blocks, model @model, recipe, mesh, plan @plan and a plan @single of one rank.
std::string fileOf(const Draw &draw);
std::string modelText(const Draw &draw);
std::string planText(const Draw &draw);

/// Splits that the plan may name, as (pattern, dimension, axes).
struct NamedSplit {
  std::string pattern;
  int64_t dim;
  std::string axes;
};
std::vector<NamedSplit> namedSplits(const Draw &draw);
} // namespace hocket::property
