// A checkpoint against a program: the table in Match.h, row by row.
#include "runtime/Checkpoint/Match.h"
#include "SavedProgram.h"
#include <gmock/gmock.h>

namespace hocket::checkpoint {

using program::DType;
using program::StateKind;
using testing::ElementsAre;
using testing::IsEmpty;

static Tensor tensor(StateKind kind, const char *name, DType type = DType::F32, std::vector<uint64_t> shape = {4}) {
  return {kind, name, type, std::move(shape), {}};
}

static Match match(std::vector<Tensor> here, std::vector<Tensor> there) {
  Index from;
  from.tensors = std::move(there);
  return matchTensors(here, from);
}

TEST(Match, TheSameTensorsSayNothing) {
  std::vector<Tensor> all = {tensor(StateKind::Parameter, "w"), tensor(StateKind::FirstMoment, "w"),
                             tensor(StateKind::Scalar, "scale", DType::F32, {})};
  Match found = match(all, {all[2], all[0], all[1]});
  EXPECT_THAT(found.faults, IsEmpty());
  EXPECT_THAT(found.notes, IsEmpty());
  EXPECT_EQ((found.sources.at({StateKind::Parameter, "w"})), 1u);
  EXPECT_EQ((found.sources.at({StateKind::Scalar, "scale"})), 0u);
}

TEST(Match, AMasterThatIsMissingIsMadeFromTheParameter) {
  Match found = match({tensor(StateKind::Parameter, "w", DType::BF16), tensor(StateKind::Master, "w")},
                      {tensor(StateKind::Parameter, "w")});
  EXPECT_THAT(found.faults, IsEmpty());
  EXPECT_EQ((found.sources.at({StateKind::Master, "w"})), 0u);
  EXPECT_THAT(found.notes, ElementsAre("1 x master of type F32 from the checkpoint's parameter of type F32",
                                       "1 x parameter of type BF16 from the checkpoint's parameter of type F32"));
}

TEST(Match, AParameterOfAnotherTypeComesFromTheMaster) {
  Match found = match({tensor(StateKind::Parameter, "w")},
                      {tensor(StateKind::Parameter, "w", DType::BF16), tensor(StateKind::Master, "w")});
  EXPECT_THAT(found.faults, IsEmpty());
  EXPECT_EQ((found.sources.at({StateKind::Parameter, "w"})), 1u);
  EXPECT_THAT(found.notes, ElementsAre("1 x master of the checkpoint left out, for which the program has no place",
                                       "1 x parameter of type F32 from the checkpoint's master of type F32"));
  // Of the same type: the parameter itself.
  found = match({tensor(StateKind::Parameter, "w", DType::BF16), tensor(StateKind::Master, "w")},
                {tensor(StateKind::Parameter, "w", DType::BF16), tensor(StateKind::Master, "w")});
  EXPECT_EQ((found.sources.at({StateKind::Parameter, "w"})), 0u);
  EXPECT_THAT(found.notes, IsEmpty());
}

TEST(Match, ScalarsMayComeAndGo) {
  Match found = match({tensor(StateKind::Scalar, "loss_scale", DType::F32, {})},
                      {tensor(StateKind::Scalar, "updates", DType::I64, {})});
  EXPECT_THAT(found.faults, IsEmpty());
  EXPECT_EQ((found.sources.at({StateKind::Scalar, "loss_scale"})), std::nullopt);
  EXPECT_THAT(found.notes, ElementsAre("scalar 'loss_scale' is not in the checkpoint and starts from its initial value",
                                       "1 x scalar of the checkpoint left out, for which the program has no place"));
}

TEST(Match, UpdatesThatNobodyCountedAreTheSteps) {
  Match found = match({tensor(StateKind::Scalar, "updates", DType::I64, {})}, {});
  EXPECT_EQ((found.sources.at({StateKind::Scalar, "updates"})), std::nullopt);
  EXPECT_THAT(found.notes,
              ElementsAre("scalar 'updates' is not in the checkpoint and starts from the number of steps"));
}

TEST(Match, EveryTensorOfAForeignModelIsNamed) {
  Match found =
      match({tensor(StateKind::Parameter, "a"), tensor(StateKind::Parameter, "b", DType::F32, {2, 3}),
             tensor(StateKind::FirstMoment, "b", DType::F32, {2, 3}), tensor(StateKind::Scalar, "n", DType::I64, {})},
            {tensor(StateKind::Parameter, "b", DType::F32, {3, 2}), tensor(StateKind::Parameter, "c"),
             tensor(StateKind::Scalar, "n", DType::F32, {})});
  EXPECT_THAT(found.faults, ElementsAre("parameter 'a' (4 F32) is not in the checkpoint",
                                        "parameter 'b' is 2x3 here, 3x2 in the checkpoint",
                                        "first_moment 'b' (2x3 F32) is not in the checkpoint",
                                        "scalar 'n' is I64 here, F32 in the checkpoint",
                                        "parameter 'c' (4 F32) of the checkpoint is not in the program"));
}

} // namespace hocket::checkpoint
