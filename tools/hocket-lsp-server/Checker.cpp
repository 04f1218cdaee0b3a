// See Checker.h.
#include "tools/hocket-lsp-server/Checker.h"
using namespace hocket::lsp;

Checker::Checker(Done done, bool beside) : done(std::move(done)) {
  if (beside)
    thread = std::thread([this] { run(); });
}

Checker::~Checker() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ending = true;
    running.clear();
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

void Checker::check(const llvm::lsp::URIForFile &uri, std::string text, int64_t version) {
  if (!thread.joinable())
    return done(uri, version, checkText(text, uri, [](CheckedPtr) {}, [] { return false; }));
  std::lock_guard<std::mutex> lock(mutex);
  std::string key = uri.uri().str();
  if (running == key)
    running.clear();
  waiting.insert_or_assign(key, Work{uri, std::move(text), version});
  changed.notify_all();
}

void Checker::forget(const llvm::lsp::URIForFile &uri) {
  std::lock_guard<std::mutex> lock(mutex);
  waiting.erase(uri.uri().str());
  if (running == uri.uri())
    running.clear();
}

void Checker::run() {
  for (;;) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return ending || !waiting.empty(); });
    if (ending)
      return;
    Work work = std::move(waiting.begin()->second);
    waiting.erase(waiting.begin());
    running = work.uri.uri().str();
    lock.unlock();
    auto tell = [&](CheckedPtr checked) {
      if (wanted(work))
        done(work.uri, work.version, std::move(checked));
    };
    tell(checkText(work.text, work.uri, tell, [&] { return !wanted(work); }));
  }
}

bool Checker::wanted(const Work &work) {
  std::lock_guard<std::mutex> lock(mutex);
  return running == work.uri.uri();
}
