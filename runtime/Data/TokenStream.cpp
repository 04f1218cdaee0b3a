// Contracts in TokenStream.h.
#include "runtime/Data/TokenStream.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace hocket::runtime {

static std::string withoutSuffix(const std::string &path, std::string_view suffix) {
  return path.ends_with(suffix) ? path.substr(0, path.size() - suffix.size()) : path;
}

DataFiles filesOf(const DataSource &source) {
  std::string prefix = withoutSuffix(withoutSuffix(source.path, ".bin"), ".idx");
  bool isPrefix = prefix == source.path;
  DataFiles pair{DataFormat::Megatron, prefix + ".bin", prefix + ".idx"};
  if (source.format == DataFormat::Megatron)
    return pair;
  std::error_code error;
  bool isFile = isPrefix && std::filesystem::exists(source.path, error);
  if (!source.format && !isFile && MegatronIndex::standsAt(pair.index))
    return pair;
  return {source.format.value_or(DataFormat::U8), source.path, ""};
}

std::string identityOf(const DataSource &source) {
  std::string text(toString(filesOf(source).format));
  if (!source.shuffle)
    text += ", not shuffled";
  if (source.documentEnd)
    text += fmt::format(", documents end with id {}", *source.documentEnd);
  if (source.maskDocumentEnds)
    text += ", ends masked";
  if (source.padding)
    text += fmt::format(", padded with id {}", *source.padding);
  return text;
}

static TokenType typeOf(DataFormat format) {
  return format == DataFormat::U16 ? TokenType::U16 : format == DataFormat::U32 ? TokenType::U32 : TokenType::U8;
}

// Where an index lies beside the file that is none, the file is not taken for bytes in silence.
static Status checkNeighbour(const DataSource &source, const DataFiles &files) {
  std::string prefix = withoutSuffix(source.path, ".bin");
  std::error_code error;
  if (source.format || !files.index.empty() || prefix == source.path ||
      !std::filesystem::exists(prefix + ".idx", error))
    return {};
  return Error{
      ErrorKind::Invalid,
      fmt::format("'{}.idx' beside data file '{}' is no Megatron-LM index; expected one, or --data-type to say "
                  "what the file holds",
                  prefix, source.path),
      {}};
}

Result<TokenStream> TokenStream::open(const DataSource &source) {
  DataFiles files = filesOf(source);
  if (Status neighbour = checkNeighbour(source, files); !neighbour)
    return std::move(neighbour.error());
  std::optional<MegatronIndex> index;
  if (!files.index.empty()) {
    Result<MegatronIndex> opened = MegatronIndex::open(files.index);
    if (!opened)
      return std::move(opened.error());
    index.emplace(std::move(*opened));
  }
  Result<TokenFile> file = TokenFile::open(files.data, index ? index->type() : typeOf(files.format));
  if (!file)
    return std::move(file.error());
  if (source.shuffle)
    file->expectRandomReads();
  return TokenStream(source, std::move(*file), std::move(index));
}

Status TokenStream::checkDocuments(bool modelReadsThem) const {
  if (!modelReadsThem || hasDocuments())
    return {};
  return Error{ErrorKind::Invalid,
               fmt::format("the model reads documents, but data file '{}' has none: expected a document-end id or a "
                           "Megatron-LM index",
                           data.path()),
               {}};
}

Status TokenStream::check(uint64_t vocabulary) const {
  std::vector<std::string> faults;
  auto note = [&](const Status &status) {
    if (!status)
      faults.push_back(status.error().message);
  };
  note(data.checkVocabulary(vocabulary));
  auto inside = [&](std::string_view what, std::optional<uint64_t> id) {
    if (id && *id >= vocabulary)
      faults.push_back(
          fmt::format("the {} id is {}, expected one below the vocabulary size {}", what, *id, vocabulary));
  };
  inside("document-end", asked.documentEnd);
  inside("padding", asked.padding);
  if (asked.maskDocumentEnds && !hasDocuments())
    faults.push_back(fmt::format("labels after documents are not to be counted, but data file '{}' has no documents: "
                                 "expected a document-end id or a Megatron-LM index",
                                 data.path()));
  if (index)
    note(index->check(data.dataBytes()));
  if (faults.empty())
    return {};
  return Error{ErrorKind::Invalid, fmt::format("{}", fmt::join(faults, "; ")), {}};
}

// ends[i] = 1 where token begin + i, which is tokens[i], is the last of its document, otherwise 0.
void TokenStream::markEnds(uint64_t begin, std::span<const int32_t> tokens, std::span<uint8_t> ends) const {
  std::fill(ends.begin(), ends.end(), 0);
  if (asked.documentEnd)
    for (size_t i = 0; i < ends.size(); ++i)
      ends[i] = static_cast<uint64_t>(tokens[i]) == *asked.documentEnd;
  if (asked.documentEnd || !index)
    return;
  uint64_t low = 0, high = index->documents(); // the first document that begins after token `begin` lies in [low, high]
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (index->documentStart(middle) > begin)
      high = middle;
    else
      low = middle + 1;
  }
  for (uint64_t d = low; d <= index->documents(); ++d) {
    uint64_t last = index->documentStart(d) - 1 - begin;
    if (last >= ends.size())
      return;
    ends[last] = 1;
  }
}

BatchRows BatchRows::row(uint64_t row, uint64_t length) const {
  auto part = [&](std::span<int32_t> all) { return all.empty() ? all : all.subspan(row * length, length); };
  return {part(tokens), part(labels), part(documents)};
}

Status TokenStream::read(uint64_t begin, uint64_t length, uint64_t vocabulary, const BatchRows &row) const {
  begin = std::min(begin, tokens());
  uint64_t end = std::min(begin + length + 1, tokens());
  if (Status checked = data.checkIds(begin, end, vocabulary); !checked)
    return checked;
  std::vector<int32_t> sample(length + 1, -1);
  data.copy(begin, std::span(sample).first(end - begin));
  std::vector<uint8_t> ends(length);
  markEnds(begin, std::span(sample).first(length), ends);
  int32_t document = 0;
  for (uint64_t i = 0; i < length; ++i) {
    int32_t token = sample[i], label = sample[i + 1];
    bool padded = asked.padding &&
                  (token == static_cast<int64_t>(*asked.padding) || label == static_cast<int64_t>(*asked.padding));
    bool beyond = begin + i + 1 >= end; // no label, and perhaps no token
    if (i > 0 && token < 0 && sample[i - 1] >= 0)
      ++document;
    if (!row.tokens.empty())
      row.tokens[i] = std::max(token, 0);
    if (!row.labels.empty())
      row.labels[i] = padded || beyond || (asked.maskDocumentEnds && ends[i]) ? -1 : label;
    if (!row.documents.empty())
      row.documents[i] = document;
    document += ends[i];
  }
  return {};
}

std::string TokenStream::summary(uint64_t vocabulary) const {
  std::string documents;
  if (asked.documentEnd) {
    documents = fmt::format(" in documents that end with id {}", *asked.documentEnd);
  } else if (index) {
    documents = fmt::format(" in {} documents", index->documents());
    if (uint64_t empty = index->emptyDocuments())
      documents += fmt::format(" ({} of them empty)", empty);
  }
  std::string narrow;
  if (vocabulary > idsOf(data.type()))
    narrow =
        vocabulary - 1 > idsOf(data.type())
            ? fmt::format(", which are never an id from {} to {} of the vocabulary", idsOf(data.type()), vocabulary - 1)
            : fmt::format(", which are never id {} of the vocabulary", vocabulary - 1);
  return fmt::format("{} {} tokens{} of '{}'{}", tokens(), toString(data.type()), documents, data.path(), narrow);
}

} // namespace hocket::runtime
