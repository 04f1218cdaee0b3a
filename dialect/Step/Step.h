// The step dialect: when each thing happens. Ops are declared in Step.td.
#pragma once
#include "dialect/Dist/Dist.h"
#include "dialect/NN/NN.h"
#include "dialect/Step/Row.h"
#include "llvm/ADT/Hashing.h"

namespace hocket::step {
llvm::hash_code hash_value(const Row &row);
} // namespace hocket::step

#include "dialect/Step/StepDialect.h.inc"
#include "dialect/Step/StepEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/Step/StepAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialect/Step/StepOps.h.inc"
