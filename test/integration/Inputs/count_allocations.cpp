// Preloaded into ranks by memory_as_planned.py: counts heap allocations and anonymous mappings of more than 64 KiB, and
// looks at the end how far up the arenas of all ranks were written. Arenas are all zero before a rank starts.
//   HOCKET_COUNT_TO: a folder; each process that has an arena writes a file there
//   HOCKET_COUNT_ARENAS: bytes of each rank's arena, by rank, as the plan says
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

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

// dlsym itself allocates a little before the first answer is there.
alignas(64) char early[1 << 16];
std::atomic<size_t> earlyUsed{0};
void *earlyBytes(size_t bytes) { return early + earlyUsed.fetch_add((bytes + 63) / 64 * 64); }
bool isEarly(void *p) { return p >= early && p < early + sizeof early; }

template <typename F> F *next(const char *name) { return reinterpret_cast<F *>(dlsym(RTLD_NEXT, name)); }
void *(*realMalloc)(size_t), *(*realCalloc)(size_t, size_t), *(*realRealloc)(void *, size_t);
void (*realFree)(void *);
void load() {
  static bool loading = false;
  if (realFree || loading)
    return;
  loading = true;
  realMalloc = next<void *(size_t)>("malloc");
  realCalloc = next<void *(size_t, size_t)>("calloc");
  realRealloc = next<void *(void *, size_t)>("realloc");
  realFree = next<void(void *)>("free");
}

/// One past the highest byte of [begin, end) that is not zero; 0 if all are.
uint64_t top(const char *begin, const char *end) {
  for (const char *at = end; at > begin; --at)
    if (at[-1])
      return uint64_t(at - begin);
  return 0;
}

struct AtExit {
  ~AtExit() {
    const char *folder = std::getenv("HOCKET_COUNT_TO"), *arenas = std::getenv("HOCKET_COUNT_ARENAS");
    char exe[4096] = {}, line[8192];
    if (!folder || !arenas || readlink("/proc/self/exe", exe, sizeof exe - 1) < 0 || std::strstr(exe, "hocket-run"))
      return;
    uint64_t begin = 0, end = 0;
    if (FILE *maps = std::fopen("/proc/self/maps", "r")) {
      while (std::fgets(line, sizeof line, maps))
        if (std::strstr(line, "memfd:hocket"))
          if (unsigned long long a, b; std::sscanf(line, "%llx-%llx", &a, &b) == 2 && b - a > end - begin)
            begin = a, end = b;
      std::fclose(maps);
    }
    if (!begin)
      return;
    std::snprintf(line, sizeof line, "%s/%d", folder, int(getpid()));
    FILE *out = std::fopen(line, "w");
    if (!out)
      return;
    std::fprintf(out, "%llu %zu", static_cast<unsigned long long>(counted.load()), largest.load());
    uint64_t all = 0;
    auto each = [&](auto visit) {
      for (const char *at = arenas; *at; at += *at == ',') {
        char *stop;
        visit((std::strtoull(at, &stop, 10) + hugePage - 1) / hugePage * hugePage);
        at = stop;
      }
    };
    each([&](uint64_t bytes) { all += bytes; });
    uint64_t at = end - all; // arenas lie at the end of the region, each from a huge page's start
    each([&](uint64_t bytes) {
      const char *arena = reinterpret_cast<const char *>(at);
      std::fprintf(out, " %llu", static_cast<unsigned long long>(top(arena, arena + bytes)));
      at += bytes;
    });
    std::fprintf(out, "\n");
    std::fclose(out);
  }
} atExit;
} // namespace

extern "C" {
void *malloc(size_t bytes) {
  load();
  count(bytes);
  return realMalloc ? realMalloc(bytes) : earlyBytes(bytes);
}
void *calloc(size_t n, size_t bytes) {
  load();
  count(n * bytes);
  return realCalloc ? realCalloc(n, bytes) : earlyBytes(n * bytes);
}
void *realloc(void *p, size_t bytes) {
  load();
  count(bytes);
  if (isEarly(p)) {
    void *moved = realMalloc(bytes);
    std::memcpy(moved, p, bytes);
    return moved;
  }
  return realRealloc ? realRealloc(p, bytes) : earlyBytes(bytes);
}
void free(void *p) {
  load();
  if (p && !isEarly(p) && realFree)
    realFree(p);
}
int posix_memalign(void **out, size_t alignment, size_t bytes) {
  count(bytes);
  return next<int(void **, size_t, size_t)>("posix_memalign")(out, alignment, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  count(bytes);
  return next<void *(size_t, size_t)>("aligned_alloc")(alignment, bytes);
}
void *memalign(size_t alignment, size_t bytes) {
  count(bytes);
  return next<void *(size_t, size_t)>("memalign")(alignment, bytes);
}
void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (flags & MAP_ANONYMOUS)
    count(bytes);
  return next<void *(void *, size_t, int, int, int, off_t)>("mmap")(at, bytes, protection, flags, fd, offset);
}
}
