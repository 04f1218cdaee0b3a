// Ranks in lockstep: who is where, and functions by op name.
#include "passes/Interpreter/LockstepOps.h"

namespace hocket::interpreter {

int64_t RankGrid::ranks() const {
  int64_t product = 1;
  for (const Axis &axis : axes)
    product *= axis.size;
  return product;
}

int64_t RankGrid::coordinate(int64_t rank, llvm::StringRef name) const {
  int64_t stride = ranks();
  for (const Axis &axis : axes) {
    stride /= axis.size;
    if (axis.name == name)
      return rank / stride % axis.size;
  }
  return 0;
}

const LockstepFunction *LockstepOps::find(llvm::StringRef name) const {
  auto found = functions.find(name);
  return found == functions.end() ? nullptr : &found->second;
}
} // namespace hocket::interpreter
