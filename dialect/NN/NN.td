// The nn dialect. Base first, then the model language, the mathematics, its derivatives, and the training step.
#ifndef HOCKET_NN_TD
#define HOCKET_NN_TD
include "dialect/NN/NNBase.td"
include "dialect/NN/NNModel.td"
include "dialect/NN/NNRecipe.td"
include "dialect/NN/NNCompute.td"
include "dialect/NN/NNGradient.td"
include "dialect/NN/NNExperts.td"
include "dialect/NN/NNTraining.td"
#endif
