// Mesh arithmetic: who sits where, who belongs to a group, which part of a tensor a rank holds. Everything about a
// single rank is computed here from the axes, so that the program file does not grow with the number of ranks. Used by
// the runtime and by passes/StepToProgram.
#ifndef HOCKET_RUNTIME_PROGRAM_MESH_H
#define HOCKET_RUNTIME_PROGRAM_MESH_H

#include "runtime/Program/program_generated.h"
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hocket::program {

// The axes as declared. Rank = row-major over them: the last axis varies fastest.
// Megatron's order <pp, dp, tp> with 4, 2, 2: ranks 0 and 1 differ in tp, 0 and 2 in dp, 0 and 4 in pp.
class Mesh {
public:
  struct Axis {
    std::string name;
    uint32_t size;
  };

  explicit Mesh(std::vector<Axis> axes);
  // From a program that passed `open`.
  explicit Mesh(const Program &program);

  const std::vector<Axis> &axes() const { return axisList; }
  uint32_t worldSize() const { return world; }
  std::vector<uint32_t> coordinates(uint32_t rank) const;
  uint32_t rank(std::span<const uint32_t> coordinates) const;
  // "pp=0 dp=1 tp=0"
  std::string text(uint32_t rank) const;
  // "pp=2, dp=2, tp=2"
  std::string sizesText() const;

  // Coordinate of `rank` along a (sub-)axis: (index / (n / (pre * size))) % size.
  // Axis of 8, index 5 = binary 101: {pre 1, size 2} -> 1; {pre 2, size 2} -> 0; {pre 4, size 2} -> 1.
  uint32_t coordinate(uint32_t rank, const AxisRef &ref) const;
  // Position of `rank` in the grid of `axes`, major to minor; 0 for no axes.
  uint32_t position(uint32_t rank, std::span<const AxisRef> axes) const;
  // The ranks that differ from `rank` only along `axes`, by position. `rank` itself is at position(rank, axes).
  std::vector<uint32_t> group(uint32_t rank, std::span<const AxisRef> axes) const;

private:
  std::vector<Axis> axisList;
  uint32_t world;
};

// Part [begin, end) of a dimension; empty shards have begin == end.
struct Range {
  uint64_t begin, end;
  uint64_t size() const { return end - begin; }
  bool operator==(const Range &) const = default;
};

// What `rank` holds of a dimension of n elements split over `axes`, major to minor. Each axis in turn cuts the *padded*
// piece of the one before it into pieces of c = ceil(left / size), so all ranks have local extents of the same size;
// then the box is cut at n.
//   10 over 4 -> 3 3 3 1;  5 over 4 -> 2 2 1 0;  5 over 2 then 2 -> [0,2) [2,3) [3,5) [5,5)
Range shard(const Mesh &mesh, uint32_t rank, uint64_t n, std::span<const AxisRef> axes);
// Local extent with padding: ceil at every axis. 10 over 4 -> 3;  5 over 2 then 2 -> 2.
uint64_t paddedExtent(uint64_t n, std::span<const AxisRef> axes);

// Number of ranks in the grid of `axes`; 1 for none.
uint64_t gridSize(std::span<const AxisRef> axes);

// The vectors of the program file as spans (empty where the file has none).
std::span<const AxisRef> axesOf(const flatbuffers::Vector<const AxisRef *> *axes);

// Box of a state tensor on a rank, one range a dimension, and its padded local shape.
std::vector<Range> box(const Mesh &mesh, uint32_t rank, const State &state);
std::vector<uint64_t> paddedShape(const State &state);
// The same of any value.
std::vector<Range> box(const Mesh &mesh, uint32_t rank, const LogicalShape &value);
std::vector<uint64_t> paddedShape(const LogicalShape &value);

// Value of a rank-dependent number.
int64_t value(const Mesh &mesh, uint32_t rank, const RankScalar &scalar);

// Members of the communicator that `rank` belongs to, in the order of collectives; empty if it belongs to none.
// Edge: {sender, receiver}.
std::vector<uint32_t> members(const Mesh &mesh, uint32_t rank, const Communicator &communicator);

// Bytes of one element.
uint64_t sizeOf(DType type);

// Index along the stage axis; 0 where there is none.
uint32_t stageOf(const Mesh &mesh, const Program &program, uint32_t rank);

} // namespace hocket::program
#endif
