// See MemoryLimit.h.
#include "tools/hocket/MemoryLimit.h"
#include "tools/CommandLine.h"
#include "tools/hocket/Report.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

void hocket::tools::addMemoryFlag(CLI::App &command, std::optional<uint64_t> &bytes, const std::string &what) {
  command.add_option("--memory", bytes, "bytes that a rank may use" + what)->check(wholeNumber(1, int64_t(1) << 62));
}

bool hocket::tools::fitsInto(Session &session, const program::ProgramT &program, std::optional<uint64_t> limitBytes) {
  bool good = true;
  for (const RankReport &rank : makeReport(program).ranks) {
    if (!limitBytes || rank.peakBytes <= *limitBytes)
      continue;
    good = false;
    std::string classes;
    for (auto &[name, bytes] : rank.bytesByClass)
      classes += fmt::format("{}{} {}", classes.empty() ? "" : ", ", name, bytes);
    session.error(fmt::format("stage {} needs {} bytes a rank, --memory gives {} ({} too many): {}", rank.stage,
                              rank.peakBytes, *limitBytes, rank.peakBytes - *limitBytes, classes));
  }
  return good;
}

Trial::Trial(Session &session)
    : silence(&session.context(), [](Diagnostic &told) { // what is not handled here goes on to the session
        return success(told.getSeverity() != DiagnosticSeverity::Error);
      }) {}
