// A schedule that somebody wrote down, as a table (TableText.h) or as actions (ActionsText.h): read, and told what
// problem it solves.
#pragma once

#include "passes/Schedule/Problem.h"
#include "passes/Schedule/RowGraph.h"

#include <optional>
#include <string_view>

namespace hocket::schedule {

struct UserSchedule {
  Problem problem; ///< sizes, placement and which bodies there are, as the text has them
  Tables tables;
  std::string numbering = {}; ///< of actions: Actions::numbering, a note at the first fault that numbers stages
};

/// Text that begins with an action is actions, all other is a table. `wholeStep`: begin and update are asked for
/// (actions, which cannot name them, get them), and a piece of a step or an evaluation is a fault.
std::optional<UserSchedule> readSchedule(std::string_view text, bool wholeStep, Faults &faults);

/// The problem that whole tables are for: weight gradients are split where there are such bodies, begin, update and
/// evaluate are asked for where a stage has them, and chunks follow each other as the activations go. Chunks of one
/// stage that hand over in place have no message: a way of activations that ends on a stage goes on with the first
/// unused one that begins there. A fault where that does not lead through all chunks.
std::optional<Problem> problemOf(const Tables &tables, Faults &faults);

/// What programs cannot run, though it may be right: messages on the stream that computes, bodies on others, and
/// messages that share a communicator (a program has one for each directed edge).
void checkRunnable(const Tables &tables, Faults &faults);

/// judge(), or of a piece judgeMessages().
Faults judge(const UserSchedule &schedule, Semantics semantics);

} // namespace hocket::schedule
