// ldmatrix, stmatrix and mma.sync with the fragments of the PTX ISA ("Matrix fragments for mma.m16n8k16 …",
// "ldmatrix").
//
// Of an 8x8 matrix of 16-bit elements, lane l holds elements 2(l%4) and 2(l%4)+1 of row l/4 (with .trans: of column
// l/4). Rows of matrix i are at the addresses that lanes 8i … 8i+7 give.
#include "runtime/Comm/Half.h"
#include "runtime/Device/Emulator/Block.h"
#include "runtime/Device/Emulator/Intrinsics.h"
#include <fmt/format.h>

namespace hocket::runtime::emulator {

namespace {

constexpr uint32_t everyLane = ~0u;

// The row address a lane gives, checked; a null pointer of lanes that are not asked.
std::byte *rowAddress(const void *argument, int matrices, uint32_t flags, const char *name, uint32_t site) {
  Block &block = Block::running();
  std::byte *row;
  std::memcpy(&row, argument, sizeof row);
  if (block.thread().lane >= 8u * static_cast<uint32_t>(matrices))
    return nullptr;
  if (reinterpret_cast<uintptr_t>(row) % 16)
    block.fail(FaultKind::Misaligned, fmt::format("gives {} a row that is not aligned to 16 bytes", name), site);
  if (block.checks())
    return static_cast<std::byte *>(block.checks()->access(block, row, 16, 16, flags, site));
  return row;
}

template <int matrices, bool transposed> void loadMatrix(void *result, const void *arguments, uint32_t site) {
  Block &block = Block::running();
  // A row is read here, by the lane that gives its address: other lanes see what it sees now.
  std::array<uint16_t, 8> row{};
  if (const std::byte *address = rowAddress(arguments, matrices, accessLoad, "ldmatrix", site))
    std::memcpy(row.data(), address, sizeof row);
  uint32_t lane = block.thread().lane;
  const Slots &slots = block.meet(everyLane, row.data(), sizeof row, "ldmatrix", site);
  for (uint32_t matrix = 0; matrix < matrices; ++matrix) {
    std::array<uint16_t, 2> pair;
    for (uint32_t i = 0; i < 2; ++i) {
      uint32_t down = lane / 4, across = lane % 4 * 2 + i;
      if (transposed)
        std::swap(down, across);
      pair[i] = of<std::array<uint16_t, 8>>(slots[matrix * 8 + down])[across];
    }
    std::memcpy(static_cast<std::byte *>(result) + matrix * 4, pair.data(), 4);
  }
}

template <int matrices, bool transposed> void storeMatrix(void *, const void *arguments, uint32_t site) {
  Block &block = Block::running();
  std::byte *row = rowAddress(arguments, matrices, accessStore, "stmatrix", site);
  uint32_t lane = block.thread().lane;
  const Slots &slots =
      block.meet(everyLane, static_cast<const std::byte *>(arguments) + 8, 4 * matrices, "stmatrix", site);
  if (!row)
    return;
  for (uint32_t i = 0; i < 8; ++i) {
    uint32_t down = lane % 8, across = i;
    if (transposed)
      std::swap(down, across);
    auto fragment = of<std::array<uint16_t, 2 * matrices>>(slots[down * 4 + across / 2]);
    std::memcpy(row + 2 * i, &fragment[lane / 8 * 2 + across % 2], 2);
  }
}

// One lane's part of m16n8k16: A in 4 registers of two elements, B in 2, C and D in 4.
struct Fragments {
  std::array<uint16_t, 8> a;
  std::array<uint16_t, 4> b;
  std::array<float, 4> c;
};

float widen(uint16_t bits, bool bfloat) { return bfloat ? toFloat(BFloat16{bits}) : toFloat(Float16{bits}); }

// D = A B + C of all lanes at once; lane l's part of D goes to the start of its slot.
template <bool bfloat, int depth> void multiplyAll(Slots &slots) {
  float a[16][depth], b[depth][8], d[16][8];
  for (uint32_t lane = 0; lane < 32; ++lane) {
    auto own = of<Fragments>(slots[lane]);
    uint32_t group = lane / 4, pair = lane % 4 * 2;
    for (uint32_t i = 0; i < depth / 2; ++i) // a0 a1: row group; a2 a3: row group + 8; a4…: 8 columns on
      a[group + i / 2 % 2 * 8][pair + i % 2 + i / 4 * 8] = widen(own.a[i], bfloat);
    for (uint32_t i = 0; i < depth / 4; ++i)
      b[pair + i % 2 + i / 2 * 8][group] = widen(own.b[i], bfloat);
    for (uint32_t i = 0; i < 4; ++i)
      d[group + i / 2 * 8][pair + i % 2] = own.c[i];
  }
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t k = 0; k < depth; ++k)
      for (uint32_t column = 0; column < 8; ++column)
        d[row][column] += a[row][k] * b[k][column];
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < 4; ++i)
      std::memcpy(slots[lane].data() + 4 * i, &d[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2], 4);
}

template <bool bfloat, int depth> void multiply(void *result, const void *arguments, uint32_t site) {
  Fragments own{};
  auto *from = static_cast<const std::byte *>(arguments);
  std::memcpy(own.a.data(), from, depth);
  std::memcpy(own.b.data(), from + depth, depth / 2);
  std::memcpy(own.c.data(), from + depth + depth / 2, sizeof own.c);
  Block &block = Block::running();
  uint32_t lane = block.thread().lane;
  const Slots &slots = block.meet(everyLane, &own, sizeof own, "mma.sync", site, multiplyAll<bfloat, depth>);
  std::memcpy(result, slots[lane].data(), 16);
}

template <int matrices, bool transposed> void addMatrices(IntrinsicTable &table) {
  std::string form = ".sync.aligned.m8n8.x" + std::to_string(matrices) + (transposed ? ".trans" : "") + ".b16";
  for (const char *space : {".p3", ".p0"}) {
    table.emplace("llvm.nvvm.ldmatrix" + form + space, packed(loadMatrix<matrices, transposed>));
    table.emplace("llvm.nvvm.stmatrix" + form + space, packed(storeMatrix<matrices, transposed>));
  }
}

} // namespace

void addMatrixIntrinsics(IntrinsicTable &table) {
  addMatrices<1, false>(table);
  addMatrices<2, false>(table);
  addMatrices<4, false>(table);
  addMatrices<1, true>(table);
  addMatrices<2, true>(table);
  addMatrices<4, true>(table);
  const std::string mma = "llvm.nvvm.mma.m16n8";
  table.emplace(mma + "k16.row.col.bf16", packed(multiply<true, 16>));
  table.emplace(mma + "k16.row.col.f32.f32", packed(multiply<false, 16>));
  table.emplace(mma + "k8.row.col.bf16", packed(multiply<true, 8>));
  table.emplace(mma + "k8.row.col.f32.f32", packed(multiply<false, 8>));
}

} // namespace hocket::runtime::emulator
