// The checks of command-line values that `hocket` shares with the runs of its executables.
#pragma once
#include "runtime/Launch/OptionValues.h"

namespace hocket::tools {
using run::notEmpty;
using run::oneOf;
using run::wholeNumber;
using run::withFaults;
} // namespace hocket::tools
