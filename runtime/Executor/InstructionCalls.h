// Instructions of the program file as calls of a device and of communicators.
#ifndef HOCKET_RUNTIME_EXECUTOR_INSTRUCTIONCALLS_H
#define HOCKET_RUNTIME_EXECUTOR_INSTRUCTIONCALLS_H

#include "runtime/Executor/RankContext.h"
#include <span>

namespace hocket::runtime {

// Where the instruction's buffers lie for a row.
std::vector<void *> addressesOf(const RankContext &context, const program::Instruction &instruction,
                                const program::Row &row);
// The kernel's rank-dependent numbers.
std::vector<int64_t> scalarsOf(const RankContext &context, const program::Instruction &instruction);
// The sizes, types and epilogue of a product.
Gemm gemmOf(const program::Instruction &instruction);
// `addresses`: of its buffers, in their order.
GemmBuffers gemmBuffers(const program::Instruction &instruction, std::span<void *const> addresses);
// Has the device find out how it computes each product of the program: what its library cannot is told before the first
// step, with the product's name.
Status prepareProducts(const RankContext &context);
Status callCollective(const RankContext &context, const program::Instruction &instruction, void *in, void *out,
                      When when);
// Posts the message of a row; `stream` as in Communicator::send.
Result<std::unique_ptr<Request>> postMessage(const RankContext &context, const program::Row &row,
                                             void *stream = nullptr);

} // namespace hocket::runtime
#endif
