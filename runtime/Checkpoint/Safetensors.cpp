// Headers of safetensors files; contracts in Safetensors.h.
#include "runtime/Checkpoint/Safetensors.h"
#include "runtime/Program/Mesh.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace hocket::checkpoint {

using nlohmann::json;
using program::DType;

// The format calls our types by the names that the program file has for them.
static std::optional<DType> typeNamed(const std::string &name) {
  for (DType type : program::EnumValuesDType())
    if (name == program::EnumNameDType(type))
      return type;
  return {};
}

const TensorEntry *Header::find(std::string_view name) const {
  auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const TensorEntry &entry) { return entry.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

namespace {
class HeaderParser {
public:
  explicit HeaderParser(uint64_t dataBytes) : dataBytes(dataBytes) {}
  void parse(std::string_view text);
  ParsedHeader result;

private:
  template <class... Args> void fault(fmt::format_string<Args...> text, Args &&...args) {
    constexpr size_t most = 32;
    if (result.faults.size() < most)
      result.faults.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  void metadata(const json &value);
  void tensor(const std::string &name, const json &value);
  std::optional<std::vector<uint64_t>> numbers(const std::string &name, const json &value, const char *key);
  void checkLayout();

  uint64_t dataBytes;
};
} // namespace

/// A word of the input, cut to a length that a message can hold.
static std::string inQuotes(const std::string &text) {
  constexpr size_t most = 120;
  return "'" + (text.size() > most ? text.substr(0, most) + "…" : text) + "'";
}

void HeaderParser::metadata(const json &value) {
  if (!value.is_object())
    return fault("__metadata__ is no object");
  for (const auto &[key, text] : value.items()) {
    if (text.is_string())
      result.header.metadata[key] = text.get<std::string>();
    else
      fault("__metadata__ {} is no text", inQuotes(key));
  }
}

std::optional<std::vector<uint64_t>> HeaderParser::numbers(const std::string &name, const json &value,
                                                           const char *key) {
  auto found = value.find(key);
  std::vector<uint64_t> result;
  if (found != value.end() && found->is_array()) {
    for (const json &number : *found)
      if (number.is_number_unsigned())
        result.push_back(number.get<uint64_t>());
    if (result.size() == found->size())
      return result;
  }
  fault("tensor {}: {} is no list of whole numbers", inQuotes(name), key);
  return {};
}

void HeaderParser::tensor(const std::string &name, const json &value) {
  if (!value.is_object())
    return fault("tensor {} is no object", inQuotes(name));
  auto dtype = value.find("dtype");
  std::string typeText = dtype != value.end() && dtype->is_string() ? dtype->get<std::string>() : "";
  std::optional<DType> type = typeNamed(typeText);
  if (!type)
    fault(
        "tensor {}: dtype {}, expected one of {}", inQuotes(name), inQuotes(typeText),
        fmt::join(program::EnumNamesDType(), program::EnumNamesDType() + std::size(program::EnumValuesDType()), ", "));
  auto shape = numbers(name, value, "shape"), offsets = numbers(name, value, "data_offsets");
  if (!type || !shape || !offsets)
    return;
  if (offsets->size() != 2 || (*offsets)[0] > (*offsets)[1] || (*offsets)[1] > dataBytes)
    return fault("tensor {}: data_offsets [{}], expected a begin and an end within the {} bytes of data",
                 inQuotes(name), fmt::join(*offsets, ", "), dataBytes);
  constexpr unsigned __int128 most = uint64_t(1) << 62;
  unsigned __int128 bytes = program::sizeOf(*type);
  for (uint64_t extent : *shape)
    bytes = std::min(most, bytes * extent);
  if (bytes != (*offsets)[1] - (*offsets)[0])
    return fault("tensor {}: {} bytes at data_offsets, its shape [{}] of {} needs {}", inQuotes(name),
                 (*offsets)[1] - (*offsets)[0], fmt::join(*shape, ", "), typeText,
                 bytes == most ? "more than any file has" : fmt::format("{}", static_cast<uint64_t>(bytes)));
  result.header.tensors.push_back({name, *type, std::move(*shape), (*offsets)[0], (*offsets)[1]});
}

/// Back to back and all of the file.
void HeaderParser::checkLayout() {
  std::vector<TensorEntry> &tensors = result.header.tensors;
  std::sort(tensors.begin(), tensors.end(), [](const TensorEntry &a, const TensorEntry &b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t at = 0;
  for (const TensorEntry &tensor : tensors) {
    if (tensor.begin != at)
      fault("tensor {} begins at byte {} of the data, {} byte {}", inQuotes(tensor.name), tensor.begin,
            tensor.begin < at ? "inside of another one that ends at" : "after a hole that begins at", at);
    at = std::max(at, tensor.end);
  }
  if (at != dataBytes)
    fault("the tensors end at byte {} of the data, the file at byte {}", at, dataBytes);
}

void HeaderParser::parse(std::string_view text) {
  std::set<std::string> names;
  std::vector<std::string> repeated;
  auto notice = [&](int depth, json::parse_event_t event, json &parsed) {
    if (event == json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second)
      repeated.push_back(parsed.get<std::string>());
    return true;
  };
  json header = json::parse(text, notice, /*allow_exceptions=*/false);
  if (!header.is_object())
    return fault("the header is no JSON object");
  for (const std::string &name : repeated)
    fault("tensor {} stands twice in the header", inQuotes(name));
  for (const auto &[name, value] : header.items()) {
    if (name == "__metadata__")
      metadata(value);
    else
      tensor(name, value);
  }
  if (result.faults.empty())
    checkLayout();
}

ParsedHeader parseHeader(std::span<const uint8_t> start, uint64_t fileBytes) {
  auto one = [](std::string fault) { return ParsedHeader{{}, {std::move(fault)}}; };
  if (fileBytes < 8 || start.size() < 8)
    return one(fmt::format("{} bytes, a safetensors file has at least 8", fileBytes));
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | start[i];
  if (length > mostHeaderBytes)
    return one(
        fmt::format("the header's length is {}, expected at most {}: no safetensors file", length, mostHeaderBytes));
  if (length > fileBytes - 8 || length > start.size() - 8)
    return one(fmt::format("the header's length is {}, {} bytes follow", length, fileBytes - 8));
  HeaderParser parser(fileBytes - 8 - length);
  parser.result.header.dataOffset = 8 + length;
  parser.parse({reinterpret_cast<const char *>(start.data()) + 8, length});
  return std::move(parser.result);
}

std::string formatHeader(std::vector<TensorEntry> &tensors, const std::map<std::string, std::string> &metadata) {
  nlohmann::ordered_json header;
  if (!metadata.empty())
    header["__metadata__"] = metadata;
  uint64_t at = 0;
  for (TensorEntry &tensor : tensors) {
    tensor.begin = at;
    at += program::sizeOf(tensor.type);
    for (uint64_t extent : tensor.shape)
      at = tensor.begin + (at - tensor.begin) * extent;
    tensor.end = at;
    header[tensor.name] = {{"dtype", program::EnumNameDType(tensor.type)},
                           {"shape", tensor.shape},
                           {"data_offsets", {tensor.begin, tensor.end}}};
  }
  std::string text = tensors.empty() && metadata.empty() ? "{}" : header.dump();
  text.append((64 - (8 + text.size()) % 64) % 64, ' ');
  std::string result(8, '\0');
  for (int i = 0; i < 8; ++i)
    result[i] = static_cast<char>(uint64_t(text.size()) >> (8 * i));
  return result + text;
}

} // namespace hocket::checkpoint
