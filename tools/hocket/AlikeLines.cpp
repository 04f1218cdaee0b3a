// See AlikeLines.h.
#include "tools/hocket/AlikeLines.h"
#include <cctype>
using namespace hocket::tools;

/// The end of the digits that begin at `begin`.
static size_t digitsEnd(const std::string &text, size_t begin) {
  while (begin < text.size() && std::isdigit(static_cast<unsigned char>(text[begin])))
    ++begin;
  return begin;
}

std::pair<std::string, int> hocket::tools::withoutLayer(const std::string &name) {
  for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    size_t end = digitsEnd(name, dot + 1);
    if (end > dot + 1 && end - dot < 10 && (end == name.size() || name[end] == '.'))
      return {name.substr(0, dot + 1) + "*" + name.substr(end), std::stoi(name.substr(dot + 1, end - dot - 1))};
  }
  return {name, -1};
}

std::string hocket::tools::withoutLayers(const std::string &text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t end = text[i] == '.' ? digitsEnd(text, i + 1) : i + 1;
    if (end > i + 1 && (end == text.size() || text[end] == '.' || text[end] == ' ' || text[end] == ':')) {
      out += ".*";
      i = end - 1;
    } else {
      out += text[i];
    }
  }
  return out;
}
