// Compares LLVM's feature names with those of /proc/cpuinfo.
#include "runtime/Executor/CpuFeatures.h"
#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace hocket::runtime {

// "sse4.2", "sse4_2" -> "sse42"; "amx-bf16", "amx_bf16" -> "amxbf16"
static std::string plain(std::string name) {
  std::erase_if(name, [](char c) { return c == '.' || c == '_' || c == '-'; });
  return name;
}

// Names that differ between the two, and those (empty) that Linux does not report.
static std::string linuxName(const std::string &feature) {
  static const std::map<std::string, std::string> other = {{"sse3", "pni"},
                                                           {"lzcnt", "abm"},
                                                           {"sahf", "lahflm"},
                                                           {"pclmul", "pclmulqdq"},
                                                           {"rdrnd", "rdrand"},
                                                           {"bmi", "bmi1"},
                                                           {"sha", "shani"},
                                                           {"64bit", "lm"},
                                                           {"x87", "fpu"},
                                                           {"crc32", "sse42"},
                                                           {"prfchw", "3dnowprefetch"},
                                                           {"mwaitx", ""},
                                                           {"evex512", ""},
                                                           {"avx10.1", ""},
                                                           {"shstk", ""},
                                                           {"invpcid", ""},
                                                           {"rdpid", ""},
                                                           {"clflushopt", ""},
                                                           {"wbnoinvd", ""},
                                                           {"pku", ""},
                                                           {"rtm", ""},
                                                           {"vzeroupper", ""},
                                                           {"ptwrite", ""},
                                                           {"enqcmd", ""},
                                                           {"uintr", ""},
                                                           {"waitpkg", ""},
                                                           {"serialize", ""},
                                                           {"tsxldtrk", ""},
                                                           {"cldemote", ""},
                                                           {"fxsr", "fxsr"}};
  auto found = other.find(feature);
  return found == other.end() ? plain(feature) : found->second;
}

std::vector<std::string> missingFeatures(const std::vector<std::string> &features, const std::string &flags) {
  std::set<std::string> present;
  std::istringstream words(flags);
  for (std::string word; words >> word;)
    present.insert(plain(word));
  std::vector<std::string> result;
  for (const std::string &feature : features)
    if (std::string name = linuxName(feature); !name.empty() && !present.count(name))
      result.push_back(feature);
  return result;
}

Status checkCpu(const program::Program &program) {
  if (program.target()->string_view() != "cpu")
    return {};
  std::vector<std::string> needed;
  if (program.features())
    for (const auto *feature : *program.features())
      needed.push_back(feature->str());
  std::string flags, line;
  for (std::ifstream info("/proc/cpuinfo"); flags.empty() && std::getline(info, line);)
    if (line.rfind("flags", 0) == 0)
      flags = line.substr(line.find(':') + 1);
  if (flags.empty())
    return {}; // not x86, or no /proc: the kernels themselves are the test
  std::vector<std::string> missing = missingFeatures(needed, flags);
  if (missing.empty())
    return {};
  return Error{
      ErrorKind::Lacking,
      fmt::format("compiled for the CPU '{}', but this machine's lacks: {} (compile with --march for this one)",
                  program.march()->str(), fmt::join(missing, ", ")),
      {}};
}

} // namespace hocket::runtime
