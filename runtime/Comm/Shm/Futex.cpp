// See Futex.h.
#include "runtime/Comm/Shm/Futex.h"
#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hocket::runtime::shm {

static_assert(sizeof(Word) == sizeof(uint32_t) && Word::is_always_lock_free);

void futexWait(Word &word, uint32_t value, std::chrono::nanoseconds limit) {
  if (limit <= std::chrono::nanoseconds::zero())
    return;
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  timespec time{static_cast<time_t>(seconds.count()), static_cast<long>((limit - seconds).count())};
  syscall(SYS_futex, &word, FUTEX_WAIT, value, &time, nullptr, 0);
}

void futexWake(Word &word) { syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

} // namespace hocket::runtime::shm
