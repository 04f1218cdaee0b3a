// Which flags act together. A flag that is given where it has no effect is a fault of the command line, never silence.
#ifndef HOCKET_RUNTIME_LAUNCH_FLAGRULES_H
#define HOCKET_RUNTIME_LAUNCH_FLAGRULES_H

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace hocket::run {

// The words that a command was given, before anything is made of their values.
class GivenWords {
public:
  explicit GivenWords(const CLI::App &command) : command(command) {}
  // "--kernels", "MODEL"; "--target=cuda": with this value.
  bool has(const std::string &word) const;
  // All values of an option, in order.
  std::vector<std::string> values(const std::string &option) const;
  // The flag with its value as a person writes it: "--gpu H100", "--print".
  std::string text(const std::string &option) const;

private:
  const CLI::App &command;
};

// The rules of all commands of a program. Names that a command does not have are an error where a rule is made.
class FlagRules {
public:
  // `flag` acts only where one of `homes` is given.
  void belongs(CLI::App &command, const std::string &flag, std::vector<std::string> homes);
  // `flag` does nothing where one of `others` is given.
  void apart(CLI::App &command, const std::string &flag, std::vector<std::string> others);
  // What only several words together show.
  using Look = std::function<void(const GivenWords &, std::vector<std::string> &faults)>;
  void look(CLI::App &command, Look look);

  // Of the command given.
  std::vector<std::string> faults(const CLI::App &command) const;

private:
  std::map<const CLI::App *, std::vector<Look>> looks;
};

// "--gpu H100", "--print": an option that was given, as a person writes it.
std::string givenText(const CLI::Option &option);

} // namespace hocket::run
#endif
