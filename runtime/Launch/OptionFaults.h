// What is said about a command line that cannot be read: one line that begins with "error:", and for a word that is
// nearly an option or a command, that one.
#ifndef HOCKET_RUNTIME_LAUNCH_OPTIONFAULTS_H
#define HOCKET_RUNTIME_LAUNCH_OPTIONFAULTS_H

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace hocket::run {

// The known word that is nearest to `word`, empty if none is near: at most a third of its letters are another's,
// missing or too many. "--microbach" -> "--microbatch"; "compil" -> "compile"; "--xyz" -> "".
std::string nearestWord(const std::string &word, const std::vector<std::string> &known);

// Prints help, a version or the fault that `app` threw. True if it was no fault.
bool endParse(const CLI::App &app, const CLI::ParseError &error);

} // namespace hocket::run
#endif
