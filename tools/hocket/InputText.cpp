// See InputText.h.
#include "tools/hocket/InputText.h"
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
namespace fs = std::filesystem;

bool hocket::tools::isOpened(const std::string &path) {
  return path.starts_with("/dev/stdin") || path.starts_with("/dev/fd/") || path.starts_with("/proc/");
}

std::optional<std::string> hocket::tools::readInput(const std::string &path, std::string &why) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  bool pipe = fs::is_fifo(status) && isOpened(path);
  if (!fs::exists(status))
    why = error ? error.message() : std::strerror(ENOENT);
  else if (fs::is_directory(status))
    why = std::strerror(EISDIR);
  else if (!fs::is_regular_file(status) && !pipe)
    why = "it is no regular file";
  if (!why.empty())
    return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    why = std::strerror(errno);
    return std::nullopt;
  }
  return std::string(std::istreambuf_iterator<char>(in), {});
}
