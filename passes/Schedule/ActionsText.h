// Schedules as people write them down in papers, issues and PyTorch's CSV files: a line a rank, its actions in order.
//
//   0F0, 0F1,     , 0B0, 0B1        // rank 0: forward of stage 0 with microbatch 0, …
//      , 1F0, 1B0, 1F1, 1B1         // rank 1; empty cells mean nothing
//
// An action is STAGE WORD MICROBATCH. Words: F forward, B backward, I backward without weight gradients, W weight
// gradients, SEND_F and RECV_F an activation to the next and from the previous stage, SEND_B and RECV_B a gradient to
// the previous and from the next one; case and underscores do not matter. A stage here is a piece of the model, and
// lies on the rank on whose line it stands. Commas and blanks separate actions; `(0SEND_F1 0RECV_B0)` is a group, which
// starts and ends as one; `//` and `#` open comments.
#pragma once

#include "passes/Schedule/Assemble.h"

#include <optional>
#include <string_view>

namespace hocket::schedule {

/// What such a text says. Without sends and receives it is a whole step: messages follow from the order of bodies.
/// With them it is a piece of one: every rank does its actions one after the other.
struct Actions {
  Problem problem;
  Orders orders;               ///< of a whole step
  std::optional<Tables> piece; ///< of a piece; its only judge is judgeMessages
  /// Of faults that number stages by rank, where the text numbers them otherwise: "stages are the ranks here, a line
  /// each: stage 0 runs the text's stage 1, stage 1 runs its 0"; else "".
  std::string numbering;
};

/// Every action that cannot be read is one fault that begins with "line N: ".
std::optional<Actions> parseActions(std::string_view text, Faults &faults);

} // namespace hocket::schedule
