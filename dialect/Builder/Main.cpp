// The main function of a program that writes a model: its arguments, and where the model goes.
#include "hocket/Main.h"
#include "dialect/NN/NN.h"
#include <charconv>
#include <fstream>
#include <iostream>
#include <sstream>

namespace hocket {

struct detail::CommandLine {
  struct Given {
    std::string name, value;
    bool hasValue;
  };
  struct Asked {
    std::string name, standard, meaning;
  };
  std::vector<Given> given;
  std::vector<Asked> asked;
  std::vector<std::string> faults;
  std::string output;
  bool help = false;
};

Arguments::Arguments(int argc, char **argv) : line(std::make_unique<detail::CommandLine>()) {
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    bool valueFollows = i + 1 < argc && !std::string_view(argv[i + 1]).starts_with("--");
    if (word == "--help" || word == "-h") {
      line->help = true;
    } else if (word == "-o" || word == "--output") {
      if (i + 1 < argc && *argv[i + 1])
        line->output = argv[++i];
      else
        line->faults.push_back(word + " needs a file");
    } else if (!word.starts_with("--") || word == "--") {
      line->faults.push_back("'" + word + "' is no argument; arguments are written --name value");
    } else if (size_t equals = word.find('='); equals != std::string::npos) {
      line->given.push_back({word.substr(2, equals - 2), word.substr(equals + 1), true});
    } else if (valueFollows && std::string_view(argv[i + 1]) != "-o") {
      line->given.push_back({word.substr(2), argv[++i], true});
    } else {
      line->given.push_back({word.substr(2), "", false});
    }
  }
}
Arguments::~Arguments() = default;

const std::string *Arguments::find(std::string_view name, std::string standard, std::string_view meaning) {
  line->asked.push_back({std::string(name), std::move(standard), std::string(meaning)});
  const std::string *found = nullptr;
  for (detail::CommandLine::Given &each : line->given)
    if (each.name == name && each.hasValue)
      found = &each.value;
    else if (each.name == name)
      line->faults.push_back("--" + each.name + " needs a value");
  return found;
}

/// All of `text` as a number; false, and `value` as it was, if it is none.
template <typename Number> static bool readNumber(const std::string &text, Number &value) {
  Number read{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (error != std::errc() || end != text.data() + text.size())
    return false;
  value = read;
  return true;
}

int64_t Arguments::get(std::string_view name, int64_t standard, std::string_view meaning) {
  const std::string *text = find(name, std::to_string(standard), meaning);
  if (text && !readNumber(*text, standard))
    line->faults.push_back("--" + std::string(name) + " is '" + *text + "', expected a whole number");
  return standard;
}

double Arguments::get(std::string_view name, double standard, std::string_view meaning) {
  const std::string *text = find(name, nn::realText(standard), meaning);
  if (text && !readNumber(*text, standard))
    line->faults.push_back("--" + std::string(name) + " is '" + *text + "', expected a number");
  return standard;
}

std::string Arguments::get(std::string_view name, const char *standard, std::string_view meaning) {
  const std::string *text = find(name, standard, meaning);
  return text ? *text : standard;
}

bool Arguments::get(std::string_view name, bool standard, std::string_view meaning) {
  for (detail::CommandLine::Given &each : line->given)
    if (each.name == name && !each.hasValue)
      each.value = "true", each.hasValue = true;
  const std::string *text = find(name, standard ? "true" : "false", meaning);
  if (!text)
    return standard;
  if (*text != "true" && *text != "false")
    line->faults.push_back("--" + std::string(name) + " is '" + *text + "', expected true or false");
  return *text == "true";
}

// ---- main -----------------------------------------------------------------------------------------------------------
static void printHelp(const char *program, const detail::CommandLine &line) {
  std::cout << "Writes a model of Hocket: " << program << " [-o FILE]";
  for (const auto &each : line.asked)
    std::cout << " [--" << each.name << " …]";
  std::cout << "\n  -o FILE  where the model is written (standard output)\n";
  for (const auto &each : line.asked)
    std::cout << "  --" << each.name << "  " << each.meaning << " (" << each.standard << ")\n";
}

/// Tells what of the command line cannot be read; false if there was anything.
static bool isReadable(const detail::CommandLine &line) {
  std::vector<std::string> faults = line.faults;
  std::vector<llvm::StringRef> names;
  for (const auto &each : line.asked)
    names.push_back(each.name);
  for (const auto &each : line.given)
    if (!llvm::is_contained(names, llvm::StringRef(each.name)))
      faults.push_back("--" + each.name + " is no argument of this program" + nn::knownNames(each.name, names));
  for (const std::string &fault : faults)
    std::cerr << "error: " << fault << "\n";
  return faults.empty();
}

/// Writes the whole text, or says why not.
static bool writeText(const std::string &text, const std::string &output) {
  if (output.empty() ? static_cast<bool>(std::cout << text << std::flush)
                     : static_cast<bool>(std::ofstream(output, std::ios::binary) << text << std::flush))
    return true;
  std::cerr << "error: cannot write " << (output.empty() ? "to standard output" : "'" + output + "'") << "\n";
  return false;
}

int main(int argc, char **argv, const std::function<void(Module &, Arguments &)> &build) {
  Arguments arguments(argc, argv);
  Module module;
  try {
    build(module, arguments);
  } catch (const std::exception &thrown) {
    std::cerr << "error: the program that writes the model threw: " << thrown.what() << "\n";
    module.printFaults(std::cerr);
    return 1;
  }
  if (arguments.line->help) {
    printHelp(argv[0], *arguments.line);
    return 0;
  }
  std::ostringstream text;
  bool readable = isReadable(*arguments.line), sound = module.write(text);
  if (!sound) {
    module.printFaults(std::cerr);
    size_t count = module.faults().size();
    std::cerr << count << (count == 1 ? " fault" : " faults") << "; no model is written\n";
  }
  if (!readable || !sound)
    return readable ? 1 : 2;
  return writeText(text.str(), arguments.line->output) ? 0 : 1;
}

int main(int argc, char **argv, const std::function<void(Module &)> &build) {
  return main(argc, argv, [&](Module &module, Arguments &) { build(module); });
}
} // namespace hocket
