// Registers the nn dialect.
#include "dialect/NN/NN.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;
using namespace hocket::nn;

#include "dialect/NN/NNAttrInterfaces.cpp.inc"
#include "dialect/NN/NNDialect.cpp.inc"
#include "dialect/NN/NNEnums.cpp.inc"
#include "dialect/NN/NNOpInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/NN/NNAttrs.cpp.inc"

void NNDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/NN/NNAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/NN/NNOps.cpp.inc"
      >();
}
