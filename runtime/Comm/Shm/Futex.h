// Sleeping on a word of shared memory, with a time limit.
#ifndef HOCKET_RUNTIME_COMM_SHM_FUTEX_H
#define HOCKET_RUNTIME_COMM_SHM_FUTEX_H

#include <atomic>
#include <chrono>
#include <cstdint>

namespace hocket::runtime::shm {

using Word = std::atomic<uint32_t>;

// Sleeps while the word holds `value`, for at most `limit`; may return early.
void futexWait(Word &word, uint32_t value, std::chrono::nanoseconds limit);
// Wakes all who sleep on the word, in all processes.
void futexWake(Word &word);

} // namespace hocket::runtime::shm
#endif
