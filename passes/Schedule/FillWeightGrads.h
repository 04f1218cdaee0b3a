// Weight gradients wait for nobody but their own backward: they fill the time in which a stage would stand idle. Given
// the order of forwards and backwards, this decides where they run.
#pragma once

#include "passes/Schedule/Assemble.h"

namespace hocket::schedule {

struct FillRules {
  /// Most that a stage may hold, in chunks in flight; between backward and weight gradient one counts
  /// Problem::heldForWeightGrad.
  double capacity = 0;
  /// A weight gradient runs where the stage would else wait for at least this share of its time (and where there is no
  /// room for a forward). Below 1 it may delay what it filled in for.
  double patience = 1;
};

struct Filled {
  Orders orders;
  double makespan = 0;
  double stageSpan = 0; ///< longest over stages, from first body to end of the last
};

/// `orders` has the forwards and backwards of every stage, without weight gradients, in an order that runs. Each weight
/// gradient comes after its backward, in the order of backwards. Nothing where `capacity` is too small for the order.
/// Takes time stages * bodies.
std::optional<Filled> fillWeightGrads(const Problem &problem, const Orders &orders, const FillRules &rules);

} // namespace hocket::schedule
