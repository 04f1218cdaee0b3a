// Registers the step dialect.
#include "dialect/Step/Step.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;
using namespace hocket::step;

#include "dialect/Step/StepDialect.cpp.inc"
#include "dialect/Step/StepEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/Step/StepAttrs.cpp.inc"

void StepDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Step/StepAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/Step/StepOps.cpp.inc"
      >();
}
