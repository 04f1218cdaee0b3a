// The main function of a program that writes a model: its arguments, and where the model goes.
#include "hocket/Main.h"
#include "dialect/NN/NN.h"
#include <charconv>
#include <fstream>
#include <iostream>
#include <sstream>

namespace hocket {

/// What the command line says, and what the program asked for.
struct Arguments::Known {
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

Arguments::Arguments(int argc, char **argv) : known(std::make_unique<Known>()) {
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    bool valueFollows = i + 1 < argc && !std::string_view(argv[i + 1]).starts_with("--");
    if (word == "--help" || word == "-h") {
      known->help = true;
    } else if (word == "-o" || word == "--output") {
      if (i + 1 < argc && *argv[i + 1])
        known->output = argv[++i];
      else
        known->faults.push_back(word + " needs a file");
    } else if (!word.starts_with("--") || word == "--") {
      known->faults.push_back("'" + word + "' is no argument; arguments are written --name value");
    } else if (size_t equals = word.find('='); equals != std::string::npos) {
      known->given.push_back({word.substr(2, equals - 2), word.substr(equals + 1), true});
    } else if (valueFollows && std::string_view(argv[i + 1]) != "-o") {
      known->given.push_back({word.substr(2), argv[++i], true});
    } else {
      known->given.push_back({word.substr(2), "", false});
    }
  }
}
Arguments::~Arguments() = default;

const std::string *Arguments::find(std::string_view name, std::string standard, std::string_view meaning) {
  known->asked.push_back({std::string(name), std::move(standard), std::string(meaning)});
  const std::string *found = nullptr;
  for (Known::Given &each : known->given)
    if (each.name == name && each.hasValue)
      found = &each.value;
    else if (each.name == name)
      known->faults.push_back("--" + each.name + " needs a value");
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
    known->faults.push_back("--" + std::string(name) + " is '" + *text + "', expected a whole number");
  return standard;
}

double Arguments::get(std::string_view name, double standard, std::string_view meaning) {
  const std::string *text = find(name, nn::realText(standard), meaning);
  if (text && !readNumber(*text, standard))
    known->faults.push_back("--" + std::string(name) + " is '" + *text + "', expected a number");
  return standard;
}

std::string Arguments::get(std::string_view name, const char *standard, std::string_view meaning) {
  const std::string *text = find(name, standard, meaning);
  return text ? *text : standard;
}

bool Arguments::get(std::string_view name, bool standard, std::string_view meaning) {
  for (Known::Given &each : known->given)
    if (each.name == name && !each.hasValue)
      each.value = "true", each.hasValue = true;
  const std::string *text = find(name, standard ? "true" : "false", meaning);
  if (!text)
    return standard;
  if (*text != "true" && *text != "false")
    known->faults.push_back("--" + std::string(name) + " is '" + *text + "', expected true or false");
  return *text == "true";
}

// ---- main
// -----------------------------------------------------------------------------------------------------------
static void printHelp(const char *program, const std::vector<std::array<std::string, 3>> &arguments) {
  std::cout << "Writes a model of Hocket: " << program << " [-o FILE]";
  for (auto &[name, standard, meaning] : arguments)
    std::cout << " [--" << name << " …]";
  std::cout << "\n  -o FILE  where the model is written (standard output)\n";
  for (auto &[name, standard, meaning] : arguments)
    std::cout << "  --" << name << "  " << meaning << " (" << standard << ")\n";
}

/// Writes the whole text or says why not; a file that cannot be written is the command line's fault.
static bool writeText(const std::string &text, const std::string &output) {
  if (output.empty())
    return static_cast<bool>(std::cout << text << std::flush);
  std::ofstream file(output, std::ios::binary);
  return static_cast<bool>(file << text << std::flush);
}

int main(int argc, char **argv, const std::function<void(Module &, Arguments &)> &build) {
  Arguments arguments(argc, argv);
  Arguments::Known &known = *arguments.known;
  Module module;
  try {
    build(module, arguments);
  } catch (const std::exception &thrown) {
    std::cerr << "error: the program that writes the model threw: " << thrown.what() << "\n";
    module.printFaults(std::cerr);
    return 1;
  }
  std::vector<llvm::StringRef> names;
  std::vector<std::array<std::string, 3>> help;
  for (Arguments::Known::Asked &each : known.asked) {
    names.push_back(each.name);
    help.push_back({each.name, each.standard, each.meaning});
  }
  if (known.help) {
    printHelp(argv[0], help);
    return 0;
  }
  for (Arguments::Known::Given &each : known.given)
    if (!llvm::is_contained(names, llvm::StringRef(each.name)))
      known.faults.push_back("--" + each.name + " is no argument of this program" + nn::knownNames(each.name, names));
  for (const std::string &fault : known.faults)
    std::cerr << "error: " << fault << "\n";
  if (!known.faults.empty()) {
    module.printFaults(std::cerr);
    return 2;
  }
  std::ostringstream text;
  if (!module.write(text)) {
    module.printFaults(std::cerr);
    size_t count = module.faults().size();
    std::cerr << count << (count == 1 ? " fault" : " faults") << "; no model is written\n";
    return 1;
  }
  if (!writeText(text.str(), known.output)) {
    std::cerr << "error: cannot write " << (known.output.empty() ? "to standard output" : "'" + known.output + "'")
              << "\n";
    return 1;
  }
  return 0;
}

int main(int argc, char **argv, const std::function<void(Module &)> &build) {
  return main(argc, argv, [&](Module &module, Arguments &) { build(module); });
}
} // namespace hocket
