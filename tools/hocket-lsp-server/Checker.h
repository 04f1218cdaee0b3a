// Checks texts beside the conversation, so that no answer waits for a pass. Of each file only the newest version
// counts.
#pragma once
#include "tools/hocket-lsp-server/Faults.h"
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace hocket::lsp {

class Checker {
public:
  /// Given what is known of a version, shardings first, then all; called from the checker's thread, or from `check` if
  /// not `beside`.
  using Done = std::function<void(const llvm::lsp::URIForFile &, int64_t version, CheckedPtr)>;
  Checker(Done done, bool beside);
  ~Checker(); ///< drops what waits and ends after the plan at hand

  /// A newer version of the same file takes the place of one that waits or runs.
  void check(const llvm::lsp::URIForFile &uri, std::string text, int64_t version);
  void forget(const llvm::lsp::URIForFile &uri);

private:
  struct Work {
    llvm::lsp::URIForFile uri;
    std::string text;
    int64_t version;
  };
  void run();
  bool wanted(const Work &work);

  Done done;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, Work> waiting; ///< by file
  std::string running;                 ///< the file being checked; empty if its result is not wanted any more
  bool ending = false;
  std::thread thread;
};
} // namespace hocket::lsp
