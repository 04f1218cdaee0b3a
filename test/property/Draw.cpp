// Draws models and plans. Sizes are small and odd; what the plan splits by heads fits, unless the draw is wrong on
// purpose.
#include "test/property/Draw.h"
#include <algorithm>
#include <fmt/format.h>

namespace hocket::property {

const std::vector<Field> &fields() {
  // In the order in which shrinking tries them: what makes a failure shortest to read comes first.
  static const std::vector<Field> all = {
      {"layers", &Draw::layers, 1},
      {"steps", &Draw::steps, 1},
      {"microbatches", &Draw::microbatches, 1},
      {"pp", &Draw::pp, 1},
      {"dp2", &Draw::dp2, 1},
      {"tp2", &Draw::tp2, 1},
      {"cp", &Draw::cp, 1},
      {"dp", &Draw::dp, 1},
      {"tp", &Draw::tp, 1},
      {"unitAxes", &Draw::unitAxes, 0},
      {"bucket", &Draw::bucket, 0},
      {"gather", &Draw::gather, Priced},
      {"zero", &Draw::zero, 0},
      {"sequenceSplit", &Draw::sequenceSplit, 0},
      {"context", &Draw::context, Ring},
      {"expertRanks", &Draw::expertRanks, NoRanks},
      {"experts", &Draw::experts, 0},
      {"top", &Draw::top, 1},
      {"shared", &Draw::shared, 0},
      {"auxiliary", &Draw::auxiliary, 0},
      {"sigmoid", &Draw::sigmoid, 0},
      {"normalized", &Draw::normalized, 0},
      {"capacity", &Draw::capacity, 10},
      {"dropout", &Draw::dropout, 0},
      {"mixed", &Draw::mixed, 0},
      {"skip", &Draw::skip, 0},
      {"oneAxis", &Draw::oneAxis, 0},
      {"reversed", &Draw::reversed, 0},
      {"zeroPart", &Draw::zeroPart, 0},
      {"uneven", &Draw::uneven, 0},
      {"splits", &Draw::splits, Megatron},
      {"schedule", &Draw::schedule, 0},
      {"chunks", &Draw::chunks, 1},
      {"precision", &Draw::precision, 0},
      {"groupKind", &Draw::groupKind, 0},
      {"clip", &Draw::clip, 0},
      {"documents", &Draw::documents, 0},
      {"window", &Draw::window, 0},
      {"softcap", &Draw::softcap, 0},
      {"rotaryPart", &Draw::rotaryPart, 0},
      {"interleaved", &Draw::interleaved, 0},
      {"bias", &Draw::bias, 0},
      {"tied", &Draw::tied, 0},
      {"activation", &Draw::activation, 0},
      {"norm", &Draw::norm, LayerNorm},
      {"heads", &Draw::heads, Fused},
      {"places", &Draw::places, Learned},
      {"inner", &Draw::inner, Plain},
      {"order", &Draw::order, 0},
      {"microbatch", &Draw::microbatch, 1},
      {"kvHeads", &Draw::kvHeads, 1},
      {"group", &Draw::group, 1},
      {"headSize", &Draw::headSize, 2},
      {"valueSize", &Draw::valueSize, 2},
      {"sequence", &Draw::sequence, 2},
      {"ffn", &Draw::ffn, 2},
      {"vocabulary", &Draw::vocabulary, 3},
      {"hidden", &Draw::hidden, 3},
      {"splitMask", &Draw::splitMask, -1},
      {"splitSeed", &Draw::splitSeed, -1},
      {"wrong", &Draw::wrong, -1},
      {"seed", &Draw::seed, -1},
  };
  return all;
}

std::string describe(const Draw &draw) {
  static const Draw simplest;
  std::string text;
  for (const Field &field : fields())
    if (draw.*field.value != simplest.*field.value)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", field.name, draw.*field.value);
  return text;
}

namespace {
class Drawing {
public:
  Drawing(uint64_t seed, uint64_t index, bool large) : random(mix(seed) ^ mix(~index)), large(large) {}

  Draw make() {
    draw.seed = below(1 << 20);
    mesh();
    schedule();
    model();
    mixture();
    recipe();
    plan();
    if (chance(15))
      spoil();
    return draw;
  }

private:
  static uint64_t mix(uint64_t x) { // splitmix64
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  int64_t below(int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int64_t percent) { return below(100) < percent; }
  int64_t oneOf(std::initializer_list<int64_t> values) {
    return values.begin()[below(static_cast<int64_t>(values.size()))];
  }

  /// 1 to 12 ranks: factors are dealt out to the axes until there are enough.
  void mesh() {
    int64_t most = large ? 8 : 12;
    int64_t Draw::*axes[] = {&Draw::dp, &Draw::tp, &Draw::pp, &Draw::dp2, &Draw::tp2};
    for (int64_t tries = between(0, 4); tries > 0; --tries) {
      int64_t factor = oneOf({2, 2, 2, 2, 3, 3, 4, 5, 7});
      if (draw.ranks() * factor <= most)
        draw.*axes[chance(92) ? below(3) : between(3, 4)] *= factor;
    }
    if (drawn.context && chance(30))
      if (int64_t factor = oneOf({2, 2, 3, 4}); draw.ranks() * factor <= most)
        draw.cp = factor;
    draw.order = below(720);
    draw.unitAxes = chance(20), draw.oneAxis = chance(15), draw.reversed = chance(25);
  }

  void schedule() {
    draw.microbatches = between(1, large ? 4 : 3);
    draw.microbatch = oneOf({1, 1, 1, 2, 3});
    if (draw.pp == 1)
      return;
    draw.schedule = below(static_cast<int64_t>(schedules().size()));
    const std::string &name = schedules()[draw.schedule];
    bool vee = name == "zb-v" || name[0] == 'v' || name == "dualpipe-v";
    if (name == "interleaved-1f1b") {
      draw.chunks = between(2, 3);
      draw.microbatches = between(draw.pp, draw.pp + 2);
    } else if (vee) {
      draw.chunks = 2;
    }
    if (name == "dualpipe-v")
      draw.microbatches = between(2 * draw.pp, 2 * draw.pp + 1);
    else if (chance(30))
      draw.microbatches += below(draw.pp + 1);
  }

  void model() {
    if (large && draw.pp > 3 && draw.chunks > 1) // deep models cost much and show no more
      draw.chunks = 1, draw.schedule = 0;
    int64_t pieces = draw.pp * draw.chunks;
    draw.layers = pieces == 1 ? between(1, 2) : pieces + (chance(30) ? 1 : 0);
    draw.norm = below(2), draw.heads = below(4), draw.places = below(2), draw.inner = below(2);
    draw.headSize = 2 * between(1, 2);
    if (draw.places == Learned && chance(50))
      draw.headSize = between(1, 3);
    draw.valueSize = between(1, 4);
    int64_t ranks = draw.tensor();
    if (draw.heads != Grouped) {
      draw.kvHeads = ranks * between(1, ranks > 3 ? 1 : 2);
    } else if (chance(50)) { // whole KV heads on each rank
      draw.kvHeads = ranks * between(1, ranks > 2 ? 1 : 2), draw.group = between(1, 3);
    } else { // ranks share a KV head
      for (int64_t d = 1; d <= ranks; ++d)
        if (ranks % d == 0 && chance(60))
          draw.kvHeads = d;
      draw.group = ranks / draw.kvHeads * between(1, 2);
      if (draw.tp2 > 1 && draw.kvHeads > 1)
        draw.kvHeads = 1, draw.group = ranks;
    }
    draw.hidden = between(3, 9), draw.ffn = between(2, 11), draw.vocabulary = between(3, 17),
    draw.sequence = between(2, 6);
    if (large)
      draw.hidden = 2 * between(24, 50) + 1, draw.ffn = between(150, 300), draw.vocabulary = between(150, 257),
      draw.sequence = between(5, 13), draw.headSize *= 4;
    if (draw.cp > 1) {
      draw.context = below(3);
      if (draw.context == AllToAll) // which splits heads further, whole KV heads
        draw.kvHeads = ranks * draw.cp, draw.group = between(1, 2);
    }
    draw.sequenceSplit = drawn.sequence && ranks > 1 && chance(45) ? between(1, 2) : 0;
    int64_t unit = draw.sequenceUnit();
    draw.sequence = std::max<int64_t>(1, (draw.sequence + unit - 1) / unit) * unit;
    draw.bias = chance(60), draw.tied = chance(50), draw.activation = below(3), draw.documents = !large && chance(25);
    draw.window = chance(20) ? between(1, 3) : 0, draw.softcap = chance(15), draw.rotaryPart = chance(30),
    draw.interleaved = chance(30);
  }

  void mixture() {
    draw.skip = chance(20);
    draw.dropout = drawn.dropout && chance(25) ? oneOf({10, 30, 50}) : 0;
    if (!drawn.experts || !chance(30))
      return;
    std::vector<int64_t> ranks{NoRanks};
    if (draw.dp2 == 1 && draw.tp2 == 1) {
      if (draw.dp > 1)
        ranks.insert(ranks.end(), {DataRanks, DataRanks});
      if (draw.dp > 2 && draw.dp % 2 == 0)
        ranks.insert(ranks.end(), {DataPart, DataPart});
      if (draw.tp > 1)
        ranks.push_back(TensorRanks);
      if (draw.dp > 1 && draw.tp > 1)
        ranks.push_back(AllRanks);
    }
    draw.expertRanks = ranks[below(static_cast<int64_t>(ranks.size()))];
    draw.experts = draw.expertDegree() * between(1, draw.expertDegree() > 2 ? 2 : 3);
    draw.experts += draw.experts == 1 ? draw.expertDegree() : 0;
    draw.top = between(1, std::min<int64_t>(3, draw.experts - 1));
    draw.mixed = draw.layers > 1 && chance(40);
    draw.sigmoid = chance(40), draw.normalized = chance(50), draw.shared = chance(40);
    draw.capacity = oneOf({5, 10, 12, 20, 100}), draw.auxiliary = chance(60);
  }

  void recipe() {
    draw.clip = chance(70);
    draw.precision = !large && chance(25) ? between(1, 3) : 0;
    draw.groupKind = chance(30) ? between(1, 4) : 0;
    if (draw.groupKind == 2 && draw.layers == 0)
      draw.groupKind = 0;
  }

  void plan() {
    draw.zeroPart = chance(20);
    draw.zero = below(drawn.zero3 ? 4 : 2);
    if (drawn.zero3) {
      draw.gather = draw.zero == 3 ? below(4) : Priced;
      draw.bucket = draw.zero && chance(60) ? oneOf({1, 40, 100, 300, 1000, 100000}) : 0;
    }
    if (draw.tensor() == 1)
      return;
    draw.uneven = drawn.uneven && draw.tp2 == 1 && chance(20);
    if (draw.uneven && draw.cp == 1)
      draw.kvHeads = between(1, draw.tensor() + 2), draw.group = between(1, 3);
    draw.splits = chance(55) ? Megatron : chance(30) ? Auto : chance(60) ? Named : Free;
    draw.splitSeed = below(1 << 20);
    draw.splitMask = below(1 << 10);
    if (draw.splits == Named && (namedSplits(draw).empty() || (draw.tp2 > 1 && draw.tp > 1)))
      draw.splits = Megatron;
  }

  /// Makes one thing wrong, if the plan has what it needs.
  void spoil() {
    if (draw.splits == Free)
      return;
    Wrong wrong = static_cast<Wrong>(between(1, static_cast<int64_t>(Wrong::Last)));
    bool possible = true;
    switch (wrong) {
    case Wrong::Nothing:
      break;
    case Wrong::HeadsOverRanks:
      possible = draw.tensor() > 1 && draw.splits == Megatron && !draw.uneven && draw.cp == 1;
      if (possible) // one more than a multiple has no common divisor with it
        draw.kvHeads = draw.tensor() + 1, draw.group = 1, draw.heads = draw.heads == Grouped ? Fused : draw.heads;
      break;
    case Wrong::BatchNoMultiple:
      possible = draw.data() * draw.microbatch > 1;
      break;
    case Wrong::StagesExceedLayers:
      possible = draw.pp * draw.chunks > 1;
      if (possible)
        draw.layers = draw.pp * draw.chunks - 1;
      break;
    case Wrong::MicrobatchesTooFew:
      possible = draw.pp > 1 && (draw.chunks > 1);
      if (possible && schedules()[draw.schedule] == "dualpipe-v")
        draw.microbatches = 2 * draw.pp - 1;
      else if (possible && schedules()[draw.schedule] == "interleaved-1f1b")
        draw.microbatches = draw.pp - 1;
      else
        possible = false;
      break;
    case Wrong::ChunksOfSchedule:
      possible = draw.pp > 1 && draw.chunks == 1;
      if (possible)
        draw.chunks = 2, draw.layers = std::max(draw.layers, 2 * draw.pp);
      break;
    case Wrong::IdleAxis:
      break;
    case Wrong::ZeroBesideBatch:
      possible = draw.tp > 1 || draw.pp > 1;
      if (possible)
        draw.zero = 1;
      break;
    case Wrong::AxisTwice:
      possible = draw.dp > 1;
      break;
    case Wrong::ExpertsOverRanks:
      possible = draw.expertDegree() > 1;
      if (possible)
        draw.experts += 1;
      break;
    case Wrong::SequenceNoMultiple:
      possible = draw.sequenceUnit() > 1;
      if (possible)
        draw.sequence += 1 + below(draw.sequenceUnit() - 1);
      break;
    }
    if (possible)
      draw.wrong = static_cast<int64_t>(wrong), draw.oneAxis = 0;
  }

  std::mt19937_64 random;
  bool large;
  Draw draw;
};
} // namespace

Draw drawOf(uint64_t seed, uint64_t index, bool large) { return Drawing(seed, index, large).make(); }
} // namespace hocket::property
