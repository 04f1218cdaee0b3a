// Registers the step dialect.
#include "dialect/Step/Step.h"
using namespace mlir;
using namespace hocket::step;

#include "dialect/Step/StepDialect.cpp.inc"
#include "dialect/Step/StepEnums.cpp.inc"
void StepDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialect/Step/StepOps.cpp.inc"
      >();
}
