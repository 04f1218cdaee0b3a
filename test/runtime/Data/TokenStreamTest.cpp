// Documents, masks, padding, and which file a path means.
#include "DataTesting.h"
using namespace hocket::runtime;
using namespace hocket::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
struct Row {
  std::vector<int32_t> tokens, labels, documents;
};
Row readRow(const TokenStream &stream, uint64_t begin, uint64_t length) {
  Row row{std::vector<int32_t>(length), std::vector<int32_t>(length), std::vector<int32_t>(length)};
  Status read = stream.read(begin, length, 1000, {row.tokens, row.labels, row.documents});
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return row;
}
DataSource sourceOf(const std::string &path, std::optional<DataFormat> format = {}) {
  DataSource source;
  source.path = path;
  source.format = format;
  return source;
}
} // namespace

TEST(TokenStream, DocumentsOfAnIndex) {
  IndexContent index = IndexContent::of({3, 1, 2, 4}, 8, 2);
  index.documents = {0, 2, 2, 3, 4}; // tokens 0-3, none, 4-5, 6-9
  MegatronFiles files(counting<uint16_t>(10), index);
  DataSource source = sourceOf(files.prefix);
  Row plain = readRow(openStream(source), 1, 8);
  EXPECT_THAT(plain.labels, ElementsAre(2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(plain.documents, ElementsAre(0, 0, 0, 1, 1, 2, 2, 2));
  source.maskDocumentEnds = true;
  Row masked = readRow(openStream(source), 1, 8);
  EXPECT_THAT(masked.tokens, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(masked.labels, ElementsAre(2, 3, -1, 5, -1, 7, 8, 9));
  EXPECT_THAT(readRow(openStream(source), 3, 2).documents, ElementsAre(0, 1));
  EXPECT_EQ(openStream(source).summary(256),
            "10 u16 tokens in 4 documents (1 of them empty) of '" + files.prefix + ".bin'");
}

TEST(TokenStream, DocumentsThatEndWithAnId) {
  TemporaryFile file(std::vector<uint8_t>{7, 8, 0, 9, 0, 0, 5, 6, 7});
  DataSource source = sourceOf(file.path);
  source.documentEnd = 0;
  source.maskDocumentEnds = true;
  Row row = readRow(openStream(source), 0, 8);
  EXPECT_THAT(row.labels, ElementsAre(8, 0, -1, 0, -1, -1, 6, 7));
  EXPECT_THAT(row.documents, ElementsAre(0, 0, 0, 1, 1, 2, 3, 3));
  EXPECT_EQ(openStream(source).summary(257), "9 u8 tokens in documents that end with id 0 of '" + file.path +
                                                 "', which are never id 256 of the vocabulary");
}

TEST(TokenStream, AnIdInsteadOfTheIndex) {
  MegatronFiles files(std::vector<uint16_t>{1, 2, 9, 3, 4, 5}, IndexContent::of({2, 4}, 8, 2));
  DataSource source = sourceOf(files.prefix);
  EXPECT_THAT(readRow(openStream(source), 0, 5).documents, ElementsAre(0, 0, 1, 1, 1));
  source.documentEnd = 9;
  EXPECT_THAT(readRow(openStream(source), 0, 5).documents, ElementsAre(0, 0, 0, 1, 1));
}

TEST(TokenStream, PaddingCountsNeitherAsTokenNorAsLabel) {
  TemporaryFile file(std::vector<uint8_t>{7, 8, 3, 3, 9, 5, 6});
  DataSource source = sourceOf(file.path);
  source.padding = 3;
  Row row = readRow(openStream(source), 0, 6);
  EXPECT_THAT(row.tokens, ElementsAre(7, 8, 3, 3, 9, 5));
  EXPECT_THAT(row.labels, ElementsAre(8, -1, -1, -1, 5, 6));
}

TEST(TokenStream, PastTheEndNothingCounts) {
  TemporaryFile file(std::vector<uint8_t>{7, 8, 9});
  TokenStream stream = openStream(sourceOf(file.path));
  Row row = readRow(stream, 1, 4);
  EXPECT_THAT(row.tokens, ElementsAre(8, 9, 0, 0));
  EXPECT_THAT(row.labels, ElementsAre(9, -1, -1, -1));
  EXPECT_THAT(row.documents, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(readRow(stream, 7, 2).labels, ElementsAre(-1, -1));
}

TEST(TokenStream, WhichFilesAPathMeans) {
  MegatronFiles files(counting<uint16_t>(10), IndexContent::of({10}, 8, 2));
  auto typeOf = [](const DataSource &source) { return openStream(source).file().type(); };
  for (const std::string &path : {files.prefix, files.bin.path, files.idx.path})
    for (std::optional<DataFormat> format : {std::optional<DataFormat>(), std::optional(DataFormat::Megatron)}) {
      EXPECT_EQ(typeOf(sourceOf(path, format)), TokenType::U16) << path;
      EXPECT_EQ(filesOf(sourceOf(path, format)).data, files.bin.path);
    }
  EXPECT_EQ(typeOf(sourceOf(files.bin.path, DataFormat::U32)), TokenType::U32);
  TemporaryFile flat(counting<uint8_t>(10), files.prefix); // a file of the prefix's very name is meant itself
  EXPECT_EQ(typeOf(sourceOf(files.prefix)), TokenType::U8);
  EXPECT_EQ(typeOf(sourceOf(files.prefix, DataFormat::Megatron)), TokenType::U16);
}

TEST(TokenStream, BesideAnIndexOfAnotherKindTheTypeMustBeSaid) {
  std::string prefix = testing::TempDir() + "hocket-other-index";
  TemporaryFile flat(counting<uint8_t>(10), prefix + ".bin");
  TemporaryFile other(std::vector<char>{'T', 'N', 'T', 'I', 'D', 'X', 0, 0, 0, 0}, prefix + ".idx");
  EXPECT_EQ(openStream(sourceOf(flat.path, DataFormat::U8)).file().type(), TokenType::U8);
  EXPECT_THAT(TokenStream::open(sourceOf(flat.path)).error().message,
              HasSubstr("is no Megatron-LM index; expected one, "
                        "or --data-type"));
  EXPECT_THAT(TokenStream::open(sourceOf(flat.path, DataFormat::Megatron)).error().message,
              HasSubstr("is no Megatron-LM index"));
}

TEST(TokenStream, IdentityIsAllButTheFile) {
  EXPECT_EQ(identityOf(sourceOf("x", DataFormat::U16)), "u16");
  EXPECT_EQ(identityOf({"x", DataFormat::Megatron, 3, 0, true, false}),
            "megatron, not shuffled, documents end with id 3, ends masked, padded with id 0");
}

TEST(TokenStream, AllFaultsInOneRun) {
  IndexContent index = IndexContent::of({10}, 8, 2);
  index.documents = {0, 2};
  MegatronFiles files(counting<uint16_t>(11), index);
  DataSource source = sourceOf(files.prefix);
  source.documentEnd = 119547;
  source.padding = 119548;
  EXPECT_EQ(
      openStream(source).check(119547).error().message,
      "data file '" + files.bin.path +
          "' holds u16 ids, which end at 65535: 54011 ids of the vocabulary of 119547 cannot be written in it, "
          "expected a vocabulary of at most 65536 or ids of a wider type; the document-end id is 119547, expected "
          "one below the vocabulary size 119547; the padding id is 119548, expected one below the vocabulary size "
          "119547; index '" +
          files.idx.path +
          "' is damaged: document index 1 of 2 is 2, expected 1; its sequences take 20 bytes, its data file has "
          "22");
  TemporaryFile flat(counting<uint8_t>(10));
  DataSource masked = sourceOf(flat.path);
  masked.maskDocumentEnds = true;
  EXPECT_EQ(openStream(masked).check(256).error().message,
            "labels after documents are not to be counted, but data file '" + flat.path +
                "' has no documents: expected a document-end id or a Megatron-LM index");
}
