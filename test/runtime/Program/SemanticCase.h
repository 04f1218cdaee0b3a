// A damage to a sound program, and what the check says of it.
#ifndef HOCKET_TEST_RUNTIME_PROGRAM_SEMANTICCASE_H
#define HOCKET_TEST_RUNTIME_PROGRAM_SEMANTICCASE_H

#include "runtime/Program/ProgramFile.h"
#include <functional>
#include <gmock/gmock.h>

namespace hocket::sample {

struct SemanticCase {
  const char *name;
  std::function<void(program::ProgramT &)> damage;
  const char *fault; // the whole sentence
};
inline void PrintTo(const SemanticCase &c, std::ostream *out) { *out << c.name; }
inline std::string caseName(const testing::TestParamInfo<SemanticCase> &info) { return info.param.name; }

} // namespace hocket::sample
#endif
