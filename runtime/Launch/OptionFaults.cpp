// See OptionFaults.h.
#include "runtime/Launch/OptionFaults.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>

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
static CLI::App &chosen(CLI::App &app) {
  std::vector<CLI::App *> commands = app.get_subcommands([](CLI::App *command) { return command->parsed(); });
  return commands.empty() ? app : chosen(*commands.front());
}

static std::vector<std::string> commandsOf(CLI::App &app) {
  std::vector<std::string> names;
  for (CLI::App *command : app.get_subcommands([](CLI::App *) { return true; }))
    names.push_back(command->get_name());
  return names;
}

namespace {
using Faults = std::vector<std::string>;

// One command line against the options of its command.
class Reader {
public:
  Reader(CLI::App &app, const std::vector<std::string> &words) : app(app), command(chosen(app)), words(words) {}
  Faults syntax() const;
  Faults extras() const;
  Faults options() const;

private:
  CLI::Option *optionOf(const std::string &word) const;
  void ofValues(CLI::Option &option, Faults &faults) const;
  void ofCompany(CLI::Option &option, Faults &faults) const;

  CLI::App &app, &command;
  const std::vector<std::string> &words;
};
} // namespace

// The option that a word names as "--name" or "--name=value"; null where it is none.
CLI::Option *Reader::optionOf(const std::string &word) const {
  return word.size() > 1 && word[0] == '-' ? command.get_option_no_throw(word.substr(0, word.find('='))) : nullptr;
}

static bool takesValue(CLI::Option &option) { return option.get_items_expected_max() > 0; }
// A flag may take one behind '=', --emulate=3; then it has a check.
static bool mayTakeValue(CLI::Option &option) {
  try {
    return takesValue(option) || option.get_validator(0);
  } catch (const CLI::OptionNotFound &) {
    return false;
  }
}

// What makes the rest of the line unreadable: CLI11 takes the next word for a value that is missing.
Faults Reader::syntax() const {
  Faults faults;
  for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    CLI::Option *option = optionOf(words[i]);
    if (!option)
      continue;
    size_t equals = words[i].find('=');
    std::string name = words[i].substr(0, equals);
    if (equals != std::string::npos && equals + 1 == words[i].size())
      faults.push_back(fmt::format("{} needs a value behind '='", name));
    else if (equals != std::string::npos && !mayTakeValue(*option))
      faults.push_back(fmt::format("{} takes no value, found '{}'", name, words[i].substr(equals + 1)));
    else if (equals == std::string::npos && takesValue(*option) && i + 1 == words.size())
      faults.push_back(fmt::format("{} needs a value", name));
    else if (equals == std::string::npos && takesValue(*option) && optionOf(words[i + 1]))
      faults.push_back(fmt::format("{} needs a value, found the option '{}'", name, words[i + 1]));
  }
  return faults;
}

// Words that nothing takes: options that do not exist, commands that do not, arguments too many.
Faults Reader::extras() const {
  Faults known, faults;
  for (const CLI::Option *option : command.get_options())
    for (const std::string &name : option->get_lnames())
      known.push_back("--" + name);
  for (const std::string &word : app.remaining(/*recurse=*/true)) {
    std::string plain = word.substr(0, word.find('='));
    bool isOption = word.size() > 1 && word[0] == '-', isCommand = !isOption && !commandsOf(command).empty();
    std::string near = nearestWord(plain, isCommand ? commandsOf(command) : known);
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
  if (faults.empty() && !commandsOf(command).empty())
    faults.push_back(fmt::format("a command is required: {}", fmt::join(commandsOf(command), ", ")));
  return faults;
}

// A check may find several things in one value, a line each.
void Reader::ofValues(CLI::Option &option, Faults &faults) const {
  const std::vector<std::string> &values = option.results();
  bool once =
      option.get_items_expected_max() == 0 ||
      (option.get_items_expected_max() == 1 && option.get_multi_option_policy() != CLI::MultiOptionPolicy::TakeAll);
  if (once && values.size() > 1) {
    std::string which = mayTakeValue(option) ? fmt::format(" ('{}')", fmt::join(values, "', '")) : "";
    faults.push_back(fmt::format("{} is given {} times{}, expected once", option.get_name(), values.size(), which));
  }
  for (std::string value : values)
    for (int i = 0; mayTakeValue(option); ++i) {
      try {
        std::istringstream text((*option.get_validator(i))(value));
        for (std::string line; std::getline(text, line);)
          faults.push_back(fmt::format("{}: {}", option.get_name(), line));
      } catch (const CLI::OptionNotFound &) {
        break; // that was the last check
      }
    }
}

void Reader::ofCompany(CLI::Option &option, Faults &faults) const {
  if (!option.count()) {
    if (option.get_required())
      faults.push_back(fmt::format("{} is required", option.get_name()));
    return;
  }
  Faults found; // CLI11 has them in the order of their addresses
  for (const CLI::Option *other : option.get_needs())
    if (!other->count())
      found.push_back(fmt::format("{} has no effect without {}", givenText(option), other->get_name()));
  for (const CLI::Option *other : option.get_excludes())
    if (other->count() && option.get_name() < other->get_name()) // once a pair
      found.push_back(fmt::format("{} and {} cannot stand together", givenText(option), givenText(*other)));
  std::sort(found.begin(), found.end());
  faults.insert(faults.end(), found.begin(), found.end());
}

Faults Reader::options() const {
  Faults faults;
  for (CLI::Option *option : command.get_options({}))
    ofValues(*option, faults);
  for (CLI::Option *option : command.get_options({}))
    ofCompany(*option, faults);
  return faults;
}

std::optional<Unparsed> parseWords(CLI::App &app, const std::vector<std::string> &words, const FlagRules &rules) {
  std::string thrown;
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) { // help
      std::ostringstream text;
      app.exit(error, text, text);
      return Unparsed{false, text.str()};
    }
    thrown = error.what();
  }
  Reader reader(app, words);
  Faults faults = reader.syntax();
  if (faults.empty()) {
    for (const Faults &more : {reader.extras(), reader.options(), rules.faults(chosen(app))})
      faults.insert(faults.end(), more.begin(), more.end());
    if (faults.empty() && !thrown.empty())
      faults.push_back(thrown);
  }
  if (faults.empty())
    return {};
  return Unparsed{true, fmt::format("error: {}\n", fmt::join(faults, "\nerror: "))};
}

bool tell(const Unparsed &unparsed) {
  std::fputs(unparsed.text.c_str(), unparsed.isFault ? stderr : stdout);
  return !unparsed.isFault;
}

} // namespace hocket::run
