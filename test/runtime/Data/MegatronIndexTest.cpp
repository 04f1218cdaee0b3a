// Megatron-LM's index: what is read from it, and every kind of fault by its text.
#include "DataTesting.h"
using namespace hocket::runtime;
using namespace hocket::test;

namespace {
/// The fault of an index (without "index 'PATH' is damaged: ") whose data file has `dataBytes`; empty if it is sound.
std::string faultOf(const IndexContent &content, uint64_t dataBytes) {
  TemporaryFile file(content.bytes());
  Result<MegatronIndex> opened = MegatronIndex::open(file.path);
  Status status = opened ? opened->check(dataBytes) : Status(opened.error());
  if (status)
    return "";
  std::string prefix = "index '" + file.path + "' is damaged: ";
  EXPECT_THAT(status.error().message, testing::StartsWith(prefix));
  return status.error().message.substr(std::min(prefix.size(), status.error().message.size()));
}

const IndexContent sound = IndexContent::of({3, 0, 4}, 8, 2); // 14 bytes of data

template <class Fn> IndexContent changed(Fn change) {
  IndexContent content = sound;
  change(content);
  return content;
}
} // namespace

TEST(MegatronIndex, SaysWhereDocumentsBegin) {
  IndexContent content = IndexContent::of({3, 2, 4, 1}, 4, 4);
  content.documents = {0, 2, 2, 3, 4}; // two sequences, none, one, one
  TemporaryFile file(content.bytes());
  Result<MegatronIndex> index = MegatronIndex::open(file.path);
  ASSERT_TRUE(index);
  EXPECT_TRUE(index->check(40));
  EXPECT_EQ(index->type(), TokenType::I32);
  EXPECT_EQ(index->documents(), 4u);
  EXPECT_EQ(index->emptyDocuments(), 1u);
  std::vector<uint64_t> starts;
  for (uint64_t d = 0; d <= 4; ++d)
    starts.push_back(index->documentStart(d));
  EXPECT_THAT(starts, testing::ElementsAre(0, 5, 5, 9, 10));
}

TEST(MegatronIndex, EveryTypeThatHoldsIds) {
  std::pair<uint8_t, TokenType> types[] = {{1, TokenType::U8},  {2, TokenType::I8},  {3, TokenType::I16},
                                           {4, TokenType::I32}, {5, TokenType::I64}, {8, TokenType::U16}};
  for (auto [code, type] : types) {
    TemporaryFile file(IndexContent::of({2, 1}, code, sizeBytes(type)).bytes());
    Result<MegatronIndex> index = MegatronIndex::open(file.path);
    ASSERT_TRUE(index);
    EXPECT_EQ(index->type(), type);
    EXPECT_TRUE(index->check(3 * sizeBytes(type)));
  }
}

TEST(MegatronIndex, NoSequencesAtAllIsAnEmptyStream) { EXPECT_EQ(faultOf(IndexContent::of({}, 8, 2), 0), ""); }

TEST(MegatronIndex, FaultsOfTheHeader) {
  EXPECT_EQ(faultOf(sound, 14), "");
  EXPECT_EQ(faultOf(changed([](auto &c) { c.version = 2; }), 14), "its version is 2, expected 1");
  EXPECT_EQ(faultOf(changed([](auto &c) { c.code = 7; }), 14),
            "its type code is 7 (f32), expected 1 (u8), 2 (i8), 3 (i16), 4 (i32), 5 (i64) or 8 (u16)");
  EXPECT_EQ(faultOf(changed([](auto &c) { c.sequenceCount = 4; }), 14),
            "it has 102 bytes, expected 114 for 4 sequences and 4 document indices");
  EXPECT_EQ(faultOf(changed([](auto &c) { c.sequenceCount = UINT64_MAX; }), 14),
            "it announces 18446744073709551615 sequences and 4 document indices, more than its 102 bytes hold");
  EXPECT_EQ(faultOf(changed([](auto &c) { c.modes = {0, 0, 0}; }), 14),
            "it gives each of its 3 sequences a mode (multimodal data), expected text alone: 102 bytes, not 105");
  EXPECT_EQ(faultOf(changed([](auto &c) { c.documents = {}, c.code = 9; }), 14),
            "its type code is 9, expected 1 (u8), 2 (i8), 3 (i16), 4 (i32), 5 (i64) or 8 (u16); it has no document "
            "indices, expected at least one, 0");
}

TEST(MegatronIndex, ForeignAndCutFiles) {
  TemporaryFile foreign(changed([](auto &c) { c.magic[0] = 'T'; }).bytes());
  EXPECT_EQ(MegatronIndex::open(foreign.path).error().message,
            "'" + foreign.path + "' is no Megatron-LM index: it does not begin with MMIDIDX and two zero bytes");
  EXPECT_FALSE(MegatronIndex::standsAt(foreign.path));
  std::vector<char> bytes = sound.bytes();
  bytes.resize(20);
  TemporaryFile cut(bytes);
  EXPECT_EQ(MegatronIndex::open(cut.path).error().message,
            "index '" + cut.path + "' is damaged: it has 20 bytes, its header alone 34");
  EXPECT_TRUE(MegatronIndex::standsAt(cut.path));
  EXPECT_EQ(MegatronIndex::open("/nowhere/x.idx").error().message,
            "cannot open index '/nowhere/x.idx': No such file or directory");
}

TEST(MegatronIndex, FaultsOfEntries) {
  EXPECT_EQ(faultOf(changed([](auto &c) { c.lengths[1] = -1; }), 14), "sequence 1 has -1 tokens, expected at least 0");
  EXPECT_EQ(faultOf(changed([](auto &c) { c.pointers[2] = 8; }), 14),
            "sequence 2 begins at byte 8, expected 6, where the sequence before it ends");
  EXPECT_EQ(faultOf(changed([](auto &c) { c.pointers[0] = -2, c.pointers[1] = 7; }), 14),
            "sequence 0 begins at byte -2, expected 0, where the sequence before it ends (and 1 more)");
  EXPECT_EQ(faultOf(changed([](auto &c) { c.documents = {1, 2, 3}; }), 14), "document index 0 of 3 is 1, expected 0");
  EXPECT_EQ(faultOf(changed([](auto &c) { c.documents = {0, 2, 1, 3}; }), 14),
            "document index 2 of 4 is 1, expected from 2 to 3");
  EXPECT_EQ(faultOf(changed([](auto &c) { c.documents = {0, 9, 3}; }), 14),
            "document index 1 of 3 is 9, expected from 0 to 3");
  EXPECT_EQ(faultOf(changed([](auto &c) { c.documents = {0, 2}; }), 14), "document index 1 of 2 is 2, expected 3");
  EXPECT_EQ(faultOf(changed([](auto &c) { c.documents = {0}; }), 14), "document index 0 of 1 is 0, expected 3");
  EXPECT_EQ(faultOf(sound, 12), "its sequences take 14 bytes, its data file has 12");
  EXPECT_EQ(faultOf(changed([](auto &c) { c.pointers[2] = 0, c.documents[3] = 4; }), 16),
            "sequence 2 begins at byte 0, expected 6, where the sequence before it ends; document index 3 of 4 is 4, "
            "expected 3; its sequences take 14 bytes, its data file has 16");
}
