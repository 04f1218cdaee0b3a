// The generated definitions of all ops. Their hand-written parts stand in the other files of this folder.
#include "dialect/NN/Assembly.h"
#include "dialect/NN/NN.h"
using namespace mlir;
using namespace hocket::nn;

#define GET_OP_CLASSES
#include "dialect/NN/NNOps.cpp.inc"
