// Preloaded into ranks by memory_as_planned.py: counts heap allocations and anonymous mappings of more than 64 KiB, and
// when a rank is done looks how far up the arenas of all ranks were written. Arenas are all zero before a rank starts.
//   HOCKET_COUNT_TO: a folder; each rank writes a file there
//   HOCKET_COUNT_ARENAS: bytes of each rank's arena, by rank, as the plan says
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

extern "C" { // what glibc's own functions are
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
}

namespace {
constexpr size_t limit = 64 << 10, hugePage = 2 << 20;
std::atomic<uint64_t> counted{0};
std::atomic<size_t> largest{0};

void count(size_t bytes) {
  if (bytes <= limit)
    return;
  ++counted;
  size_t before = largest;
  while (before < bytes && !largest.compare_exchange_weak(before, bytes)) {
  }
}

/// One past the highest byte of [begin, end) that is not zero; 0 if all are.
uint64_t top(const char *begin, const char *end) {
  for (const char *at = end; at > begin; --at)
    if (at[-1])
      return uint64_t(at - begin);
  return 0;
}

/// Whether the shared memory in which arenas lie is what is mapped there.
bool isRegion(uint64_t begin, uint64_t end) {
  char line[8192];
  bool found = false;
  FILE *maps = std::fopen("/proc/self/maps", "r");
  while (maps && std::fgets(line, sizeof line, maps))
    if (unsigned long long a, b;
        std::strstr(line, "/memfd:hocket (deleted)") && std::sscanf(line, "%llx-%llx", &a, &b) == 2)
      found |= a == begin && b == end;
  if (maps)
    std::fclose(maps);
  return found;
}

/// Calls visit with the bytes that each arena takes up: arenas begin with a huge page.
template <typename F> void eachArena(const char *arenas, F visit) {
  for (char *stop; *arenas; arenas = stop + (*stop == ','))
    visit((std::strtoull(arenas, &stop, 10) + hugePage - 1) / hugePage * hugePage);
}

/// When a rank lets go of the shared memory it has done its last step.
void report(uint64_t begin, uint64_t end) {
  const char *folder = std::getenv("HOCKET_COUNT_TO"), *arenas = std::getenv("HOCKET_COUNT_ARENAS");
  char exe[4096] = {}, name[8192];
  uint64_t all = 0, counts = counted;
  if (!folder || !arenas || readlink("/proc/self/exe", exe, sizeof exe - 1) < 0 || std::strstr(exe, "hocket-run"))
    return;
  eachArena(arenas, [&](uint64_t bytes) { all += bytes; });
  std::snprintf(name, sizeof name, "%s/%d", folder, int(getpid()));
  FILE *out = all && all < end - begin && isRegion(begin, end) ? std::fopen(name, "w") : nullptr;
  if (!out)
    return;
  std::fprintf(out, "%llu %zu", static_cast<unsigned long long>(counts), largest.load());
  uint64_t at = end - all; // arenas lie at the end of the region
  eachArena(arenas, [&](uint64_t bytes) {
    const char *arena = reinterpret_cast<const char *>(at);
    std::fprintf(out, " %llu", static_cast<unsigned long long>(top(arena, arena + bytes)));
    at += bytes;
  });
  std::fprintf(out, "\n");
  std::fclose(out);
}
} // namespace

extern "C" {
void *malloc(size_t bytes) {
  count(bytes);
  return __libc_malloc(bytes);
}
void *calloc(size_t n, size_t bytes) {
  count(n * bytes);
  return __libc_calloc(n, bytes);
}
void *realloc(void *p, size_t bytes) {
  count(bytes);
  return __libc_realloc(p, bytes);
}
int posix_memalign(void **out, size_t alignment, size_t bytes) {
  count(bytes);
  void *memory = __libc_memalign(alignment, bytes);
  if (!memory)
    return ENOMEM;
  *out = memory;
  return 0;
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  count(bytes);
  return __libc_memalign(alignment, bytes);
}
void *memalign(size_t alignment, size_t bytes) {
  count(bytes);
  return __libc_memalign(alignment, bytes);
}
void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  using Function = void *(void *, size_t, int, int, int, off_t);
  static Function *next = reinterpret_cast<Function *>(dlsym(RTLD_NEXT, "mmap"));
  if (flags & MAP_ANONYMOUS)
    count(bytes);
  return next(at, bytes, protection, flags, fd, offset);
}
int munmap(void *at, size_t bytes) {
  static auto *next = reinterpret_cast<int (*)(void *, size_t)>(dlsym(RTLD_NEXT, "munmap"));
  uint64_t begin = reinterpret_cast<uint64_t>(at);
  report(begin, begin + bytes);
  return next(at, bytes);
}
}
