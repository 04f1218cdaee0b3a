// The main function of a program that writes a model.
#pragma once
#include "hocket/Module.h"

namespace hocket {
namespace detail {
struct CommandLine; ///< what it says, and what the program asked for
} // namespace detail

/// Arguments of the program, asked for where they are used: args.get("layers", 4, "transformer layers") is 8 after
/// `--layers 8` (or `--layers=8`) and 4 without. What nobody asks for is an error, and `--help` lists what was asked
/// for.
class Arguments {
public:
  Arguments(int argc, char **argv);
  ~Arguments();
  int64_t get(std::string_view name, int64_t standard, std::string_view meaning);
  int64_t get(std::string_view name, int standard, std::string_view meaning) {
    return get(name, static_cast<int64_t>(standard), meaning);
  }
  double get(std::string_view name, double standard, std::string_view meaning);
  std::string get(std::string_view name, const char *standard, std::string_view meaning);
  bool get(std::string_view name, bool standard, std::string_view meaning); ///< --name true, --name false, --name

private:
  friend int main(int argc, char **argv, const std::function<void(Module &, Arguments &)> &build);
  const std::string *find(std::string_view name, std::string standard, std::string_view meaning);
  std::unique_ptr<detail::CommandLine> line;
};

/// Runs `build` and writes the model to standard output, or to FILE with `-o FILE`. Returns the exit status: 0 done; 1
/// the model has faults (all of them told on standard error, and FILE is not touched) or FILE cannot be written; 2 the
/// command line cannot be read.
int main(int argc, char **argv, const std::function<void(Module &, Arguments &)> &build);
int main(int argc, char **argv, const std::function<void(Module &)> &build);
} // namespace hocket
