// The reduction of all CPU communicators: in fixed order, independent of how the elements are cut.
#ifndef HOCKET_RUNTIME_COMM_REDUCE_H
#define HOCKET_RUNTIME_COMM_REDUCE_H

#include "runtime/Comm/Communicator.h"

namespace hocket::runtime {

// Every out[count] = ((in0 + in1) + in2) + … elementwise (or max, min), rounded as Communicator.h says. An `out` may be
// one of the `in`s, otherwise they are apart. At least one `in`.
void reduceInOrder(std::span<const std::byte *const> in, std::span<std::byte *const> out, size_t count,
                   ElementType type, Reduction reduction);

} // namespace hocket::runtime
#endif
