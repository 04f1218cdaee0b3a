// The switch: callee-saved registers of the System V ABI for x86-64, then the other stack.
#include "runtime/Device/Emulator/Fiber.h"
#include <sys/mman.h>

asm(R"(
.text
.globl hocketEmulatorSwitch
.type hocketEmulatorSwitch, @function
hocketEmulatorSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size hocketEmulatorSwitch, .-hocketEmulatorSwitch
)");

namespace hocket::runtime::emulator {

static constexpr size_t guard = 4096;

Stacks::~Stacks() {
  for (std::byte *stack : stacks)
    munmap(stack - guard, bytes + guard);
}

bool Stacks::grow(size_t count) {
  while (stacks.size() < count) {
    void *memory =
        mmap(nullptr, bytes + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      return false;
    mprotect(memory, guard, PROT_NONE);
    stacks.push_back(static_cast<std::byte *>(memory) + guard);
  }
  return true;
}

void *Stacks::enter(std::byte *stack, void (*entry)()) {
  auto **top = reinterpret_cast<void **>(stack + bytes - 64); // aligned to 16
  *--top = nullptr;                                           // where `entry` would return to
  *--top = reinterpret_cast<void *>(entry);
  for (int saved = 0; saved < 6; ++saved)
    *--top = nullptr;
  return top;
}

} // namespace hocket::runtime::emulator
