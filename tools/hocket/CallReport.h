// hocket explain --calls: the calls of NCCL that a rank of a program for "cuda" issues, in the order in which it does.
#pragma once
#include "runtime/Program/program_generated.h"
#include <nlohmann/json.hpp>
#include <optional>

namespace hocket::tools {
/// Of one rank, or of the first of each stage: ranks of a stage issue the same, with other partners. Every entry of the
/// program. Calls that follow each other and are alike are one line.
std::string callText(const program::ProgramT &program, std::optional<uint32_t> rank);
nlohmann::ordered_json callJson(const program::ProgramT &program, std::optional<uint32_t> rank);
} // namespace hocket::tools
