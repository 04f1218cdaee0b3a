// An index whose bytes were changed in any one place, or that was cut anywhere, is refused or read as before: but for
// where one document ends and the next begins, which nothing else in the files tells. And even where it is not checked
// first (as by a rank, after the launcher looked), nothing is read outside of the files.
#include "DataTesting.h"
using namespace hocket::runtime;
using namespace hocket::test;

namespace {
constexpr uint64_t sequence = 4;
const std::vector<int32_t> lengths = {3, 0, 5, 2, 7};
const std::vector<uint16_t> tokens = counting<uint16_t>(17);

struct Reading {
  std::vector<int32_t> tokens, labels, documents;
  bool operator==(const Reading &) const = default;
};

/// Everything that training would read of these files; nothing where they are refused. `checked`: as a launcher does.
std::optional<Reading> readAll(const MegatronFiles &files, bool checked) {
  DataSource source;
  source.path = files.prefix;
  source.format = DataFormat::Megatron;
  source.maskDocumentEnds = true;
  Result<TokenStream> opened = TokenStream::open(source);
  if (!opened)
    return {};
  BatchShape shape{4, sequence, 100, 4, 1, /*documents=*/true};
  Result<BatchReader> reader = BatchReader::create(std::move(*opened), shape, 1);
  if (!reader || (checked && !reader->check()))
    return {};
  Reading all{std::vector<int32_t>(16), std::vector<int32_t>(16), std::vector<int32_t>(16)};
  if (!reader->read(0, 0, 0, {all.tokens, all.labels, all.documents}))
    return {};
  return all;
}
} // namespace

TEST(IndexDamage, EveryByteInEveryWay) {
  MegatronFiles files(tokens, IndexContent::of(lengths, 8, 2));
  std::optional<Reading> intact = readAll(files, true);
  ASSERT_TRUE(intact);
  const std::vector<char> bytes = IndexContent::of(lengths, 8, 2).bytes();
  const size_t boundaries = bytes.size() - 8 * lengths.size(), last = bytes.size() - 8; // of documents, but 0 and n
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int change : {0x01, 0x04, 0x80, 0xff}) {
      std::vector<char> damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      files.idx.write(damaged);
      std::optional<Reading> read = readAll(files, true);
      if (read && at >= boundaries && at < last)
        EXPECT_EQ(read->tokens, intact->tokens) << "byte " << at << " changed by " << change;
      else
        EXPECT_TRUE(!read || *read == *intact) << "byte " << at << " changed by " << change;
      readAll(files, false);
    }
}

TEST(IndexDamage, CutOrLongerAnywhere) {
  const std::vector<char> bytes = IndexContent::of(lengths, 8, 2).bytes();
  MegatronFiles files(tokens, IndexContent::of(lengths, 8, 2));
  for (size_t size = 0; size < bytes.size() + 40; ++size) {
    std::vector<char> other = bytes;
    other.resize(size, 1);
    files.idx.write(other);
    EXPECT_EQ(readAll(files, true).has_value(), size == bytes.size()) << size;
    readAll(files, false);
  }
}
