// See NoRoom.h. Handlers of memory may not allocate.
#include "tools/hocket/NoRoom.h"
#include "runtime/Launch/FileSizeLimit.h"
#include "tools/hocket/Session.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <new>
#include <unistd.h>

static void print(llvm::StringRef text) {
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

/// Threads that come while one is at it wait for the end.
static void endWithoutMemory() {
  static std::atomic_flag ending;
  while (ending.test_and_set())
    ::pause();
  print("error: out of memory: the system gives hocket no more\n");
  llvm::sys::RunInterruptHandlers();
  ::_exit(hocket::tools::MachineLacks);
}

static void endByLlvm(void *, const char *reason, bool) {
  llvm::StringRef text(reason);
  if (text.contains_insensitive("out of memory") || text.contains_insensitive("allocat") ||
      text.contains("pthread_create"))
    endWithoutMemory();
  print("LLVM ERROR: "); // as without a handler
  print(text);
  print("\n");
}

void hocket::tools::endPlainlyWithoutRoom() {
  std::set_new_handler(endWithoutMemory);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { endWithoutMemory(); });
  llvm::install_fatal_error_handler(endByLlvm);
  hocket::run::makeFileSizeLimitAnError();
}
