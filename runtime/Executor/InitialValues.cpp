// Counter-based initial values; contracts in InitialValues.h.
#include "runtime/Executor/InitialValues.h"
#include "runtime/Comm/Half.h"
#include "runtime/Program/Random.h"
#include <cmath>
#include <cstring>
#include <functional>

namespace hocket::runtime {

std::array<double, 4> normalBlock(uint64_t seed, uint64_t stream, uint64_t block) {
  // The same operations in the same order as standardNormal.
  std::array<uint32_t, 4> words = program::philox(seed, block, stream);
  constexpr double toUnit = 1.0 / 4294967296.0;
  std::array<double, 4> result;
  for (int pair = 0; pair < 2; ++pair) {
    double radius = std::sqrt(-2 * std::log((words[2 * pair] + 0.5) * toUnit));
    double angle = 6.283185307179586 * ((words[2 * pair + 1] + 0.5) * toUnit);
    result[2 * pair] = radius * std::cos(angle);
    result[2 * pair + 1] = radius * std::sin(angle);
  }
  return result;
}

static void store(void *to, uint64_t index, program::DType type, double value) {
  switch (type) {
  case program::DType::F64:
    static_cast<double *>(to)[index] = value;
    return;
  // By way of f32: so a parameter is its f32 master, rounded.
  case program::DType::BF16:
    static_cast<BFloat16 *>(to)[index] = toBFloat16(static_cast<float>(value));
    return;
  case program::DType::F16:
    static_cast<Float16 *>(to)[index] = toFloat16(static_cast<float>(value));
    return;
  case program::DType::I64:
    static_cast<int64_t *>(to)[index] = static_cast<int64_t>(value);
    return;
  case program::DType::I32:
    static_cast<int32_t *>(to)[index] = static_cast<int32_t>(value);
    return;
  default:
    static_cast<float *>(to)[index] = static_cast<float>(value);
  }
}

namespace {
// The last dimension of a shard is filled in runs: `fill(first global index, first local index, length)`.
struct ShardRuns {
  std::vector<program::Range> box;
  std::vector<uint64_t> padded, logical;

  uint64_t rows() const {
    uint64_t result = 1;
    for (size_t dim = 0; dim + 1 < box.size(); ++dim)
      result *= box[dim].size();
    return result;
  }
  void row(uint64_t index, const std::function<void(uint64_t, uint64_t, uint64_t)> &fill) const {
    if (box.empty())
      return fill(0, 0, 1);
    uint64_t global = 0, local = 0, globalStride = logical.back(), localStride = padded.back();
    for (size_t dim = box.size() - 1; dim-- > 0;) {
      uint64_t at = index % box[dim].size();
      index /= box[dim].size();
      global += (box[dim].begin + at) * globalStride;
      local += at * localStride;
      globalStride *= logical[dim];
      localStride *= padded[dim];
    }
    fill(global + box.back().begin, local, box.back().size());
  }
};
} // namespace

static void fillNormal(void *shard, const program::State &state, uint64_t seed, uint64_t stream, uint64_t global,
                       uint64_t local, uint64_t length) {
  for (uint64_t i = 0; i < length;) {
    std::array<double, 4> values = normalBlock(seed, stream, (global + i) / 4);
    for (uint64_t lane = (global + i) % 4; lane < 4 && i < length; ++lane, ++i)
      store(shard, local + i, state.type(), state.scale() * values[lane]);
  }
}

void initialise(void *shard, const program::State &state, const program::Mesh &mesh, uint32_t rank, uint64_t seed,
                ThreadPool &pool) {
  ShardRuns runs{program::box(mesh, rank, state), program::paddedShape(state), {}};
  if (state.shape())
    runs.logical.assign(state.shape()->begin(), state.shape()->end());
  std::memset(shard, 0, state.buffer()->bytes());
  if (state.init() == program::InitKind::Zeros)
    return;
  uint64_t stream = program::streamOf(state.name()->string_view());
  double constant = state.init() == program::InitKind::Ones ? 1.0 : state.scale();
  pool.parallelFor(static_cast<int64_t>(runs.rows()), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      runs.row(static_cast<uint64_t>(row), [&](uint64_t global, uint64_t local, uint64_t length) {
        if (state.init() == program::InitKind::Normal)
          return fillNormal(shard, state, seed, stream, global, local, length);
        for (uint64_t i = 0; i < length; ++i)
          store(shard, local + i, state.type(), constant);
      });
  });
}

} // namespace hocket::runtime
