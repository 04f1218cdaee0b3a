// --check-finite: stops a rank at the first value that is not finite, before it is sent anywhere. Every instruction of
// every body is looked at as soon as it has run, so all that went into it was finite: the instruction is the cause, not
// a victim. Since a rank passes on nothing that is not finite, what the first rank to stop reports is where it began
// (two ranks may begin at once). Padding is not looked at; infinities that belong where they are (Written.infinite)
// pass.
//
// With a loss scale that adapts itself (fp16), gradients that overflow are its daily work: such a step is skipped and
// changes nothing. Then only forward passes and the state that steps leave are looked at.
#ifndef HOCKET_RUNTIME_EXECUTOR_FINITECHECK_H
#define HOCKET_RUNTIME_EXECUTOR_FINITECHECK_H

#include "runtime/Executor/RankContext.h"

namespace hocket::runtime {

class FiniteCheck {
public:
  explicit FiniteCheck(const RankContext &context);

  // Whether the instructions of a body are looked at.
  bool covers(const program::Body &body) const { return !scaled || body.kind() <= program::BodyKind::Forward; }
  // What an instruction has written, at `buffers` (all of the instruction's). Fails (Mismatch) with tensor, element and
  // value.
  Status written(const program::Instruction &instruction, std::span<void *const> buffers) const;
  // Parameters and optimizer state; `when` is put before the fault ("before the first step").
  Status state(std::string_view when) const;

private:
  const RankContext &context;
  bool scaled = false; // by a loss scale that adapts itself
};

// Index of the first element of a padded shard that is real, not finite and not one of the infinities allowed; nothing
// where there is none. `padded`: extents of the shard; `box`: of each dimension, how much of it is real.
std::optional<uint64_t> firstNotFinite(program::DType type, const void *data, std::span<const uint64_t> padded,
                                       std::span<const uint64_t> box,
                                       program::Infinities allowed = program::Infinities::None);

} // namespace hocket::runtime
#endif
