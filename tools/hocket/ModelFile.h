// The model that a command works on: a file of IR, or a C++ program that writes one (dialect/Builder).
#pragma once
#include "runtime/Launch/FlagRules.h"
#include "tools/hocket/Session.h"
#include <string>
#include <vector>

namespace hocket::tools {
struct ModelFile {
  std::string path;
  std::vector<std::string> settings; ///< NAME=VALUE: arguments of the C++ program

  void addTo(CLI::App &command, run::FlagRules &rules, bool required = true);
};

/// Loads a model into the session without verifying it. One in C++ (.cpp, .cc, .cxx) is built against the embedded
/// language beside this compiler and run, so that the model's locations are lines of the C++ source. False after a
/// report.
bool loadModel(Session &session, const ModelFile &model);
} // namespace hocket::tools
