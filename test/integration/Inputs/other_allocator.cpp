// Preloaded into ranks by other-allocator.test: an allocator that is not the C library's, as jemalloc or tcmalloc. It
// knows its own memory by a mark before it, and ends the process when it is given somebody else's.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

extern "C" { // what the C library's own functions are
void *__libc_malloc(size_t);
void __libc_free(void *);
}

namespace {
constexpr uint64_t mark = 0x686f636b65740001;
struct Header {
  void *whole;
  size_t bytes;
  uint64_t mark, unused;
};

Header &headerOf(void *memory) { return static_cast<Header *>(memory)[-1]; }

void *make(size_t alignment, size_t bytes) {
  alignment = alignment < 32 ? 32 : alignment;
  if (bytes > SIZE_MAX / 2)
    return nullptr;
  void *whole = __libc_malloc(bytes + alignment + sizeof(Header));
  if (!whole)
    return nullptr;
  uintptr_t at = (reinterpret_cast<uintptr_t>(whole) + sizeof(Header) + alignment - 1) / alignment * alignment;
  headerOf(reinterpret_cast<void *>(at)) = {whole, bytes, mark, 0};
  return reinterpret_cast<void *>(at);
}

void check(void *memory) {
  if (headerOf(memory).mark == mark)
    return;
  constexpr char words[] = "memory of another allocator was freed\n";
  (void)!::write(2, words, sizeof words - 1);
  ::_exit(99);
}
} // namespace

extern "C" {
void *malloc(size_t bytes) { return make(32, bytes); }
void *calloc(size_t count, size_t each) {
  size_t bytes;
  if (__builtin_mul_overflow(count, each, &bytes))
    return nullptr;
  void *memory = make(32, bytes);
  return memory ? std::memset(memory, 0, bytes) : nullptr;
}
void free(void *memory) {
  if (!memory)
    return;
  check(memory);
  Header &header = headerOf(memory);
  header.mark = 0;
  __libc_free(header.whole);
}
void *realloc(void *memory, size_t bytes) {
  if (!memory)
    return malloc(bytes);
  check(memory);
  void *moved = make(32, bytes);
  if (moved)
    std::memcpy(moved, memory, bytes < headerOf(memory).bytes ? bytes : headerOf(memory).bytes);
  if (moved)
    free(memory);
  return moved;
}
void *aligned_alloc(size_t alignment, size_t bytes) { return make(alignment, bytes); }
void *memalign(size_t alignment, size_t bytes) { return make(alignment, bytes); }
int posix_memalign(void **out, size_t alignment, size_t bytes) {
  *out = make(alignment, bytes);
  return *out ? 0 : ENOMEM;
}
size_t malloc_usable_size(void *memory) { return memory ? headerOf(memory).bytes : 0; }
}
