// JSON of the index; contracts in Index.h.
#include "runtime/Checkpoint/Index.h"
#include "runtime/Program/ProgramFile.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace hocket::checkpoint {

using nlohmann::json;

std::string kindName(program::StateKind kind) {
  std::string result;
  for (const char *c = program::EnumNameStateKind(kind); *c; ++c) {
    bool upper = *c >= 'A' && *c <= 'Z';
    if (upper && !result.empty())
      result += '_';
    result += upper ? static_cast<char>(*c - 'A' + 'a') : *c;
  }
  return result;
}

static std::optional<program::StateKind> kindNamed(const std::string &name) {
  for (program::StateKind kind : program::EnumValuesStateKind())
    if (kindName(kind) == name)
      return kind;
  return {};
}

static std::optional<program::DType> typeNamed(const std::string &name) {
  for (program::DType type : program::EnumValuesDType())
    if (name == program::EnumNameDType(type))
      return type;
  return {};
}

std::string Tensor::text() const {
  return fmt::format("{} '{}' ({} {})", kindName(kind), name, shapeText(shape), program::EnumNameDType(type));
}

uint64_t Index::bytes() const {
  uint64_t result = 0;
  for (const File &file : files)
    result += file.bytes;
  return result;
}

static uint64_t checksumOfText(const std::string &text) {
  return program::checksum({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
}

static std::string hex(uint64_t value) { return fmt::format("{:016x}", value); }

// ---- writing --------------------------------------------------------------------------------------------------------
static json tensorJson(const Tensor &tensor) {
  json pieces = json::array();
  for (const Piece &piece : tensor.pieces) {
    json box = json::array();
    for (const program::Range &range : piece.box)
      box.push_back({range.begin, range.end});
    pieces.push_back({{"file", piece.file}, {"box", std::move(box)}});
  }
  return {{"kind", kindName(tensor.kind)},
          {"name", tensor.name},
          {"type", program::EnumNameDType(tensor.type)},
          {"shape", tensor.shape},
          {"pieces", std::move(pieces)}};
}

std::string indexText(const Index &index) {
  json mesh = json::array(), files = json::array(), tensors = json::array();
  for (const program::Mesh::Axis &axis : index.mesh)
    mesh.push_back({axis.name, axis.size});
  for (const File &file : index.files)
    files.push_back(
        {{"name", file.name}, {"rank", file.rank}, {"bytes", file.bytes}, {"checksum", hex(file.checksum)}});
  for (const Tensor &tensor : index.tensors)
    tensors.push_back(tensorJson(tensor));
  json content{{"format", "hocket checkpoint"},
               {"version", indexVersion},
               {"step", index.step},
               {"samples", index.samples},
               {"seed", index.seed},
               {"model", index.model},
               {"plan", index.plan},
               {"recipe", index.recipe},
               {"schedule", index.schedule},
               {"mesh", std::move(mesh)},
               {"global_batch", index.globalBatch},
               {"sequence", index.sequence},
               {"vocabulary", index.vocabulary},
               {"microbatches", index.microbatches},
               {"parameters", index.parameters},
               {"data",
                {{"path", index.data.path},
                 {"type", index.data.type},
                 {"bytes", index.data.bytes},
                 {"fingerprint", hex(index.data.fingerprint)}}},
               {"files", std::move(files)},
               {"tensors", std::move(tensors)}};
  constexpr auto replace = json::error_handler_t::replace; // a path may be no UTF-8
  content = json::parse(content.dump(-1, ' ', false, replace));
  content["checksum"] = hex(checksumOfText(content.dump()));
  return content.dump(1) + "\n";
}

// ---- reading --------------------------------------------------------------------------------------------------------
namespace {
// Reads members of JSON objects; what is missing or of the wrong type is a fault with its place, and a default value.
class IndexParser {
public:
  void parse(const std::string &text);
  ParsedIndex result;

private:
  template <class... Args> void fault(fmt::format_string<Args...> text, Args &&...args) {
    constexpr size_t most = 32;
    if (result.faults.size() < most)
      result.faults.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  const json *member(const json &object, const char *key, json::value_t type, const std::string &where);
  uint64_t number(const json &object, const char *key, const std::string &where);
  std::string word(const json &object, const char *key, const std::string &where);
  uint64_t hexNumber(const json &object, const char *key, const std::string &where);
  std::vector<std::pair<uint64_t, uint64_t>> pairs(const json &list, const std::string &where);
  bool sealed(json &content);
  void head(const json &content);
  void file(const json &from);
  void tensor(const json &from);
  bool shapeSound(const Tensor &tensor);

  std::set<std::string> fileNames, tensorKeys;
};
} // namespace

const json *IndexParser::member(const json &object, const char *key, json::value_t type, const std::string &where) {
  auto found = object.is_object() ? object.find(key) : object.end();
  if (found != object.end() && found->type() == type)
    return &*found;
  fault("{}: {} {}", where, key, found == object.end() ? "is missing" : "is of another type than expected");
  return nullptr;
}

uint64_t IndexParser::number(const json &object, const char *key, const std::string &where) {
  const json *found = member(object, key, json::value_t::number_unsigned, where);
  return found ? found->get<uint64_t>() : 0;
}

std::string IndexParser::word(const json &object, const char *key, const std::string &where) {
  const json *found = member(object, key, json::value_t::string, where);
  return found ? found->get<std::string>() : "";
}

uint64_t IndexParser::hexNumber(const json &object, const char *key, const std::string &where) {
  std::string text = word(object, key, where);
  uint64_t value = 0;
  bool sound = text.size() == 16;
  for (char c : text) {
    size_t digit = std::string_view("0123456789abcdef").find(c);
    sound &= digit != std::string_view::npos;
    value = value << 4 | (digit & 15);
  }
  if (!sound)
    fault("{}: {} is '{:.40}', expected 16 hexadecimal digits", where, key, text);
  return value;
}

std::vector<std::pair<uint64_t, uint64_t>> IndexParser::pairs(const json &list, const std::string &where) {
  std::vector<std::pair<uint64_t, uint64_t>> result;
  for (const json &pair : list) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_unsigned() || !pair[1].is_number_unsigned()) {
      fault("{}: a box is no list of pairs of whole numbers", where);
      return {};
    }
    result.push_back({pair[0].get<uint64_t>(), pair[1].get<uint64_t>()});
  }
  return result;
}

/// Format, version and checksum: where one of them is wrong, the rest is not worth reading.
bool IndexParser::sealed(json &content) {
  if (!content.is_object() || content.value("format", json()) != "hocket checkpoint") {
    fault("it is no index of a checkpoint");
    return false;
  }
  if (content.value("version", json()) != indexVersion) {
    fault("it has version {}, this program reads version {}", content.value("version", json()).dump(), indexVersion);
    return false;
  }
  uint64_t expected = hexNumber(content, "checksum", "the index");
  content.erase("checksum");
  uint64_t found = checksumOfText(content.dump());
  if (result.faults.empty() && found != expected)
    fault("it is damaged or was changed: its content has checksum {}, it says {}", hex(found), hex(expected));
  return result.faults.empty();
}

void IndexParser::head(const json &content) {
  Index &index = result.index;
  const std::string where = "the index";
  for (auto [key, value] : {std::pair("step", &index.step),
                            {"samples", &index.samples},
                            {"seed", &index.seed},
                            {"global_batch", &index.globalBatch},
                            {"sequence", &index.sequence},
                            {"vocabulary", &index.vocabulary},
                            {"microbatches", &index.microbatches},
                            {"parameters", &index.parameters}})
    *value = number(content, key, where);
  for (auto [key, value] : {std::pair("model", &index.model),
                            {"plan", &index.plan},
                            {"recipe", &index.recipe},
                            {"schedule", &index.schedule}})
    *value = word(content, key, where);
  if (const json *mesh = member(content, "mesh", json::value_t::array, where))
    for (const json &axis : *mesh) {
      if (axis.is_array() && axis.size() == 2 && axis[0].is_string() && axis[1].is_number_unsigned() &&
          axis[1].get<uint64_t>() <= UINT32_MAX)
        index.mesh.push_back({axis[0].get<std::string>(), axis[1].get<uint32_t>()});
      else
        fault("{}: an axis of the mesh is no pair of name and size", where);
    }
  if (const json *data = member(content, "data", json::value_t::object, where))
    index.data = {word(*data, "path", "the data"), word(*data, "type", "the data"), number(*data, "bytes", "the data"),
                  hexNumber(*data, "fingerprint", "the data")};
}

void IndexParser::file(const json &from) {
  std::string where = fmt::format("file {}", result.index.files.size());
  File file{word(from, "name", where), static_cast<uint32_t>(number(from, "rank", where)), number(from, "bytes", where),
            hexNumber(from, "checksum", where)};
  bool plain = !file.name.empty() && file.name[0] != '.' && file.name.size() < 256;
  for (char c : file.name)
    plain &=
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  if (!plain)
    fault("{}: '{:.80}' is no plain file name", where, file.name);
  else if (!fileNames.insert(file.name).second)
    fault("{}: '{}' is listed twice", where, file.name);
  result.index.files.push_back(std::move(file));
}

bool IndexParser::shapeSound(const Tensor &tensor) {
  constexpr unsigned __int128 most = uint64_t(1) << 48;
  unsigned __int128 elements = 1;
  for (uint64_t extent : tensor.shape) {
    elements *= extent;
    if (extent < 1 || elements > most) {
      fault("{}: expected extents of at least 1 and at most 2^48 elements", tensor.text());
      return false;
    }
  }
  return true;
}

void IndexParser::tensor(const json &from) {
  std::string where = fmt::format("tensor {}", result.index.tensors.size());
  Tensor tensor{};
  size_t before = result.faults.size();
  std::string kind = word(from, "kind", where), type = word(from, "type", where);
  tensor.name = word(from, "name", where);
  auto knownKind = kindNamed(kind);
  auto knownType = typeNamed(type);
  if (!knownKind)
    fault("{}: kind '{:.40}' is unknown", where, kind);
  if (!knownType)
    fault("{}: type '{:.40}' is unknown", where, type);
  tensor.kind = knownKind.value_or(program::StateKind::Parameter);
  tensor.type = knownType.value_or(program::DType::F32);
  if (const json *shape = member(from, "shape", json::value_t::array, where))
    for (const json &extent : *shape)
      tensor.shape.push_back(extent.is_number_unsigned() ? extent.get<uint64_t>() : 0);
  std::vector<Box> boxes;
  if (const json *pieces = member(from, "pieces", json::value_t::array, where))
    for (const json &piece : *pieces) {
      uint64_t file = number(piece, "file", where);
      if (file >= result.index.files.size())
        fault("{}: a piece lies in file {}, there are {}", where, file, result.index.files.size());
      Box box;
      if (const json *ranges = member(piece, "box", json::value_t::array, where))
        for (auto [begin, end] : pairs(*ranges, where))
          box.push_back({begin, end});
      boxes.push_back(box);
      tensor.pieces.push_back({static_cast<uint32_t>(file), std::move(box)});
    }
  if (result.faults.size() > before || !shapeSound(tensor))
    return;
  if (std::string wrong = partitionFault(tensor.shape, boxes); !wrong.empty())
    fault("{}: {}", tensor.text(), wrong);
  std::set<uint32_t> files;
  for (const Piece &piece : tensor.pieces)
    if (!files.insert(piece.file).second)
      fault("{}: two pieces lie in file '{}'", tensor.text(), result.index.files[piece.file].name);
  if (!tensorKeys.insert(tensor.key()).second)
    fault("{}: is listed twice", tensor.text());
  result.index.tensors.push_back(std::move(tensor));
}

void IndexParser::parse(const std::string &text) {
  constexpr int deepest = 8; // of a sound index; printing what is deeper would take a deep stack
  auto shallow = [](int depth, json::parse_event_t, json &) { return depth <= deepest; };
  json content = json::parse(text, shallow, /*allow_exceptions=*/false);
  if (!sealed(content))
    return;
  head(content);
  if (const json *files = member(content, "files", json::value_t::array, "the index"))
    for (const json &from : *files)
      file(from);
  if (const json *tensors = member(content, "tensors", json::value_t::array, "the index"))
    for (const json &from : *tensors)
      tensor(from);
}

ParsedIndex parseIndex(const std::string &text) {
  IndexParser parser;
  parser.parse(text);
  return std::move(parser.result);
}

} // namespace hocket::checkpoint
