// The memory in which oneDNN works.
#ifndef HOCKET_RUNTIME_DEVICE_CPU_PRODUCTMEMORY_H
#define HOCKET_RUNTIME_DEVICE_CPU_PRODUCTMEMORY_H

namespace hocket::runtime {

// While one lives, what this thread asks of posix_memalign above 64 KiB is a block that the thread keeps from then on:
// a second product of the same size takes nothing from the heap. What a thread has kept is as much as the neediest of
// its products (of dnnl_sgemm 16 MiB or less), and is given back when the thread ends. What is still in use when the
// last one dies stays its user's. Not nested. Without glibc, and under a sanitizer, it does nothing.
class ProductMemory {
public:
  ProductMemory();
  ~ProductMemory();
  ProductMemory(const ProductMemory &) = delete;
  ProductMemory &operator=(const ProductMemory &) = delete;
};

} // namespace hocket::runtime
#endif
