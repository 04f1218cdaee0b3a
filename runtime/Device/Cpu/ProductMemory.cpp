// dnnl_sgemm packs its operands into memory that it takes from the heap at every call (posix_memalign) and gives back
// at its end (free): up to 16 MiB for a vocabulary, which the C library then maps and unmaps. It cannot be given
// memory, and the matmul primitive, which can, was measured 2 to 6 % slower on the products of whole steps. So both
// functions are answered here first: the dynamic linker binds a library's calls to the executable's own definition
// where there is one. All that does not come from inside a product goes on to whoever would have answered: glibc, or
// an allocator that was preloaded.
#include "runtime/Device/Cpu/ProductMemory.h"
#include <cstdlib>

#if defined(__has_feature)
#define HOCKET_HAS(feature) __has_feature(feature)
#else
#define HOCKET_HAS(feature) 0
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&                           \
    !HOCKET_HAS(address_sanitizer) && !HOCKET_HAS(thread_sanitizer) && !HOCKET_HAS(memory_sanitizer)
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <dlfcn.h>

namespace hocket::runtime {
namespace {

constexpr size_t least = 64 << 10; // objects that outlive a product, as compiled code, are smaller
constexpr int mostBlocks = 4;      // in use at a time; dnnl_sgemm has one

struct Block {
  void *memory;
  size_t bytes, alignment;
  bool taken;
  bool fits(size_t wanted, size_t aligned) const { return bytes >= wanted && alignment >= aligned; }
};

// One thread's. No constructor nor destructor: free is called before the first and after the last of them.
struct Kept {
  Block blocks[mostBlocks];
  bool inProduct;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Kept kept{};

int fromHeap(void **out, size_t alignment, size_t bytes) {
  using Function = int (*)(void **, size_t, size_t);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "posix_memalign"));
  return next(out, alignment, bytes);
}

// Looking up may itself free something; so little is better lost than given to the wrong allocator.
void toHeap(void *memory) {
  using Function = void (*)(void *);
  static constinit std::atomic<Function> next{nullptr};
  static constinit thread_local bool searching = false;
  Function function = next.load(std::memory_order_relaxed);
  if (!function) {
    if (searching)
      return;
    searching = true;
    function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "free"));
    searching = false;
    next.store(function, std::memory_order_relaxed);
  }
  function(memory);
}

void giveBack(Block &block) {
  toHeap(block.memory);
  block = {};
}

// A free block that is large enough; else the first free one, made so: it grows and never shrinks, whatever is asked in
// turn. Null where all are taken, or there is no memory.
Block *take(size_t alignment, size_t bytes) {
  Block *found = nullptr;
  for (Block &block : kept.blocks)
    if (!block.taken && (!found || (!found->fits(bytes, alignment) && block.fits(bytes, alignment))))
      found = &block;
  if (!found)
    return nullptr;
  if (!found->fits(bytes, alignment)) {
    bytes = std::max(bytes, found->bytes), alignment = std::max(alignment, found->alignment);
    giveBack(*found);
    if (fromHeap(&found->memory, alignment, bytes) != 0)
      return nullptr;
    found->bytes = bytes, found->alignment = alignment;
  }
  found->taken = true;
  return found;
}

struct AtThreadEnd {
  ~AtThreadEnd() {
    for (Block &block : kept.blocks)
      if (!block.taken)
        giveBack(block);
  }
};

} // namespace

ProductMemory::ProductMemory() {
  thread_local AtThreadEnd atEnd;
  static_cast<void>(&atEnd);
  kept.inProduct = true;
}

ProductMemory::~ProductMemory() { kept.inProduct = false; }

} // namespace hocket::runtime

extern "C" int posix_memalign(void **out, size_t alignment, size_t bytes) {
  using namespace hocket::runtime;
  if (!kept.inProduct || bytes <= least)
    return fromHeap(out, alignment, bytes);
  Block *block = take(alignment, bytes);
  if (!block)
    return fromHeap(out, alignment, bytes);
  *out = block->memory;
  return 0;
}

extern "C" void free(void *memory) {
  if (!memory)
    return;
  for (hocket::runtime::Block &block : hocket::runtime::kept.blocks)
    if (block.memory == memory) {
      block.taken = false;
      return;
    }
  hocket::runtime::toHeap(memory);
}

#else

namespace hocket::runtime {
ProductMemory::ProductMemory() {}
ProductMemory::~ProductMemory() {}
} // namespace hocket::runtime

#endif
