// All ranks of a program for "cuda" as devices that have room for so many communication kernels at a time. Knows how a
// step is queued (runtime/Executor/DeviceStep.h) and nothing of how its order was found or proved.
#pragma once
#include "runtime/Program/program_generated.h"
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace hocket {

class DeviceModel {
public:
  DeviceModel(const program::Program &program, std::string_view entry);

  /// A kernel takes a place when all that it waits for on its own device is done and one is free, and keeps it until
  /// all who take part have done so. Which of several takes it: drawn; without `random` what was issued last. True if
  /// everything ends.
  bool endsWith(size_t places, std::mt19937 *random) const;
  /// Every rank makes its calls one after another in the order of issue, each when all who take part have come to it:
  /// devices with one place, and hosts that a call keeps waiting.
  bool endsInOrderOfIssue() const;

private:
  struct Piece {
    uint32_t rank;
    std::vector<uint32_t> after; ///< on the same device
    int64_t call = -1;           ///< none: it computes
  };
  void queue(const program::Program &program, const program::RankProgram &own, const program::Entry &entry,
             uint32_t rank);

  std::vector<Piece> pieces;                ///< rank by rank, in the order of issue
  std::vector<std::vector<uint32_t>> calls; ///< the pieces that meet
  uint32_t ranks = 0;
};
} // namespace hocket
