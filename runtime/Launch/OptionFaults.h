// What is said about a command line that cannot be read: one line for each of its faults, which begins with "error:",
// and for a word that is nearly an option or a command, that one. The one place that turns words into an exit status:
// faults that the words alone show are of the command line (2); what has to be held against a file is not found here.
#ifndef HOCKET_RUNTIME_LAUNCH_OPTIONFAULTS_H
#define HOCKET_RUNTIME_LAUNCH_OPTIONFAULTS_H

#include "runtime/Launch/FlagRules.h"
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace hocket::run {

// The known word that is nearest to `word`, empty if none is near: at most a third of its letters are another's,
// missing or too many. "--microbach" -> "--microbatch"; "compil" -> "compile"; "--xyz" -> "".
std::string nearestWord(const std::string &word, const std::vector<std::string> &known);

// A command line after which nothing is to be run: help, or faults.
struct Unparsed {
  bool isFault;
  std::string text; // whole lines
};

// Parses the words behind the program's name. Nothing where all is well; else every fault of single words and of their
// combination by `rules`.
std::optional<Unparsed> parseWords(CLI::App &app, const std::vector<std::string> &words, const FlagRules &rules);

// The lines on standard output or, of faults, standard error. True if it was no fault.
bool tell(const Unparsed &unparsed);

} // namespace hocket::run
#endif
