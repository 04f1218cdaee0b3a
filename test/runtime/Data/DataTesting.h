// Files of tokens and Megatron-LM indices for tests, byte by byte.
#ifndef HOCKET_TEST_RUNTIME_DATA_DATATESTING_H
#define HOCKET_TEST_RUNTIME_DATA_DATATESTING_H

#include "runtime/Data/BatchReader.h"
#include <fstream>
#include <gmock/gmock.h>
#include <numeric>

namespace hocket::test {

// A file that is gone when the test ends; its name ends with `suffix`.
struct TemporaryFile {
  std::string path;
  template <class T>
  explicit TemporaryFile(const std::vector<T> &content, const std::string &name = "")
      : path(name.empty() ? testing::TempDir() + "hocket-data-" + std::to_string(reinterpret_cast<uintptr_t>(this))
                          : name) {
    write(content);
  }
  template <class T> void write(const std::vector<T> &content) const {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(content.data()),
               static_cast<std::streamsize>(content.size() * sizeof(T)));
  }
  TemporaryFile(const TemporaryFile &) = delete;
  ~TemporaryFile() { std::remove(path.c_str()); }
};

template <class T> std::vector<T> counting(size_t n) {
  std::vector<T> result(n);
  std::iota(result.begin(), result.end(), T(0));
  return result;
}

// What an index says; every field can be set to something wrong.
struct IndexContent {
  std::string magic = std::string("MMIDIDX\0\0", 9);
  uint64_t version = 1;
  uint8_t code = 8;
  std::vector<int32_t> lengths;
  std::vector<int64_t> pointers, documents;
  std::optional<uint64_t> sequenceCount, documentCount; // instead of the true ones
  std::vector<int8_t> modes;

  // Sequences of these lengths, one after another; a document of each.
  static IndexContent of(const std::vector<int32_t> &lengths, uint8_t code, uint64_t tokenBytes) {
    IndexContent content;
    content.code = code;
    content.lengths = lengths;
    int64_t at = 0;
    for (int32_t length : lengths) {
      content.pointers.push_back(at);
      at += length * static_cast<int64_t>(tokenBytes);
    }
    content.documents = counting<int64_t>(lengths.size() + 1);
    return content;
  }

  std::vector<char> bytes() const {
    std::vector<char> out(magic.begin(), magic.end());
    auto put = [&](auto number) {
      const char *from = reinterpret_cast<const char *>(&number);
      out.insert(out.end(), from, from + sizeof number);
    };
    put(version);
    put(code);
    put(sequenceCount.value_or(lengths.size()));
    put(documentCount.value_or(documents.size()));
    for (int32_t length : lengths)
      put(length);
    for (int64_t pointer : pointers)
      put(pointer);
    for (int64_t document : documents)
      put(document);
    for (int8_t mode : modes)
      put(mode);
    return out;
  }
};

// PREFIX.bin and PREFIX.idx.
struct MegatronFiles {
  std::string prefix;
  TemporaryFile bin, idx;
  template <class T>
  MegatronFiles(const std::vector<T> &tokens, const IndexContent &index)
      : prefix(testing::TempDir() + "hocket-megatron-" + std::to_string(reinterpret_cast<uintptr_t>(this))),
        bin(tokens, prefix + ".bin"), idx(index.bytes(), prefix + ".idx") {}
};

inline runtime::TokenStream openStream(runtime::DataSource source) {
  runtime::Result<runtime::TokenStream> opened = runtime::TokenStream::open(source);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  return std::move(*opened);
}

inline runtime::TokenStream openFlat(const TemporaryFile &file, runtime::DataFormat format) {
  runtime::DataSource source;
  source.path = file.path;
  source.format = format;
  return openStream(source);
}

} // namespace hocket::test
#endif
