// Registers the dist dialect.
#include "dialect/Dist/Dist.h"
#include "mlir/IR/DialectImplementation.h"
using namespace mlir;
using namespace hocket::dist;

#include "dialect/Dist/DistDialect.cpp.inc"
#include "dialect/Dist/DistEnums.cpp.inc"

void DistDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialect/Dist/DistOps.cpp.inc"
      >();
}
