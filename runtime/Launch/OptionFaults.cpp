// See OptionFaults.h.
#include "runtime/Launch/OptionFaults.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hocket::run {

// Letters to replace, add or drop (Levenshtein), row by row.
static size_t distance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::string nearestWord(const std::string &word, const std::vector<std::string> &known) {
  std::string best;
  size_t least = (word.size() - std::min(word.find_first_not_of('-'), word.size())) / 3 + 1;
  for (const std::string &candidate : known)
    if (size_t far = distance(word, candidate); far < least) {
      least = far;
      best = candidate;
    }
  return best;
}

// The command that was chosen, or the app itself.
static const CLI::App &chosen(const CLI::App &app) {
  std::vector<const CLI::App *> commands =
      app.get_subcommands([](const CLI::App *command) { return command->parsed(); });
  return commands.empty() ? app : chosen(*commands.front());
}

static std::vector<std::string> commandsOf(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    names.push_back(command->get_name());
  return names;
}

// Words that nothing takes: options that do not exist, commands that do not, arguments too many.
static std::string extraText(const CLI::App &app) {
  const CLI::App &command = chosen(app);
  std::vector<std::string> options, faults;
  for (const CLI::Option *option : command.get_options())
    for (const std::string &name : option->get_lnames())
      options.push_back("--" + name);
  for (const std::string &word : app.remaining(/*recurse=*/true)) {
    std::string plain = word.substr(0, word.find('='));
    bool isOption = word.size() > 1 && word[0] == '-', isCommand = !isOption && !commandsOf(command).empty();
    std::string near = nearestWord(plain, isOption ? options : isCommand ? commandsOf(command) : options);
    std::string hint = !near.empty() ? fmt::format("; did you mean '{}'?", near)
                       : isCommand   ? fmt::format("; commands: {}", fmt::join(commandsOf(command), ", "))
                       : isOption    ? fmt::format("; {} --help lists all", command.get_name())
                                     : "";
    faults.push_back(fmt::format("{} '{}'{}",
                                 isOption    ? "unknown option"
                                 : isCommand ? "unknown command"
                                             : "there is no place for the word",
                                 isOption ? plain : word, hint));
  }
  return fmt::format("{}", fmt::join(faults, "\nerror: "));
}

bool endParse(const CLI::App &app, const CLI::ParseError &error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    app.exit(error); // help
    return true;
  }
  std::string text = error.what();
  std::vector<std::string> commands = commandsOf(chosen(app));
  if (!app.remaining(true).empty())
    text = extraText(app);
  else if (error.get_name() == "RequiredError" && !commands.empty())
    text = fmt::format("a command is required: {}", fmt::join(commands, ", "));
  fmt::print(stderr, "error: {}\n", text);
  return false;
}

} // namespace hocket::run
