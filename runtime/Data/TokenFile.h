// A file of token ids of one type, one after another, memory-mapped.
#ifndef HOCKET_RUNTIME_DATA_TOKENFILE_H
#define HOCKET_RUNTIME_DATA_TOKENFILE_H

#include "runtime/Data/MappedFile.h"
#include "runtime/Data/TokenType.h"
#include <span>

namespace hocket::runtime {

class TokenFile {
public:
  // Fails (Invalid) where the file cannot be read or its size is no multiple of the token size.
  static Result<TokenFile> open(const std::string &path, TokenType type);

  const std::string &path() const { return file.path(); }
  TokenType type() const { return kind; }
  uint64_t tokens() const { return file.sizeBytes() / sizeBytes(kind); }
  uint64_t dataBytes() const { return file.sizeBytes(); }
  void expectRandomReads() const { file.expectRandomReads(); }
  // index < tokens().
  int64_t token(uint64_t index) const;

  // A vocabulary with ids that this type cannot write, as an error: such a file was written for another vocabulary, or
  // is read as another type than it was written in. Bytes are let through: no tokenizer writes them, they are the text
  // itself, and models of bytes have a few ids more (TokenStream::summary says so).
  Status checkVocabulary(uint64_t vocabulary) const;
  // The first id of tokens [begin, end) that is negative or not below `vocabulary`, as an error with its offset in the
  // file.
  Status checkIds(uint64_t begin, uint64_t end, uint64_t vocabulary) const;
  // Tokens from `begin` on, which are there and checked, into all of `to`.
  void copy(uint64_t begin, std::span<int32_t> to) const;

private:
  TokenFile(MappedFile file, TokenType kind) : file(std::move(file)), kind(kind) {}
  MappedFile file;
  TokenType kind;
};

} // namespace hocket::runtime
#endif
