// Dimensions of a step's values that are one index, because one factor of an op runs over them.
#pragma once
#include "passes/Dist/StepGraph.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace hocket::dist {

using Dimension = std::pair<Node, int>;
using DimensionTies = llvm::EquivalenceClasses<Dimension>;

/// Adds the dimensions of an op's operands and results, and ties those that share a factor.
void tieByFactors(const StepOp &op, DimensionTies &ties);
} // namespace hocket::dist
