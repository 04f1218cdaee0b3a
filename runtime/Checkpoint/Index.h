// The index of a checkpoint: what it is of, which files it has, and which box of which tensor lies in which file.
//
//   step-20/index.json             this, with a checksum of itself
//   step-20/rank-0.safetensors     the boxes that rank 0 owns: tensors named "parameter/wte", "first_moment/wte", …
//   step-20/rank-1.safetensors     …
//
// Every logical element of every tensor is in exactly one file, without padding. So a checkpoint says nothing about the
// plan that wrote it but its name, and any plan reads it.
#ifndef HOCKET_RUNTIME_CHECKPOINT_INDEX_H
#define HOCKET_RUNTIME_CHECKPOINT_INDEX_H

#include "runtime/Checkpoint/Box.h"

namespace hocket::checkpoint {

inline constexpr char indexName[] = "index.json";
inline constexpr uint32_t indexVersion = 1;

// "parameter", "first_moment", …: the program file's StateKind as the IR writes words.
std::string kindName(program::StateKind kind);

struct Piece {
  uint32_t file; // of the index
  Box box;
};

struct Tensor {
  program::StateKind kind;
  std::string name;
  program::DType type;
  std::vector<uint64_t> shape;
  std::vector<Piece> pieces;

  std::string key() const { return kindName(kind) + "/" + name; } // in its files
  std::string text() const;                                       // "parameter 'wte' (256x128 F32)", for messages
};

struct File {
  std::string name;
  uint32_t rank = 0; // that wrote it
  uint64_t bytes = 0, checksum = 0;
};

// Which data training reads: recognised by content, so that the file may move.
struct DataIdentity {
  std::string path, type; // the path is for people
  uint64_t bytes = 0, fingerprint = 0;
  bool sameContent(const DataIdentity &other) const {
    return type == other.type && bytes == other.bytes && fingerprint == other.fingerprint;
  }
};

struct Index {
  uint64_t step = 0;    // done
  uint64_t samples = 0; // read: the data cursor
  uint64_t seed = 0;    // of initial values and sample order
  std::string model, plan, recipe, schedule;
  std::vector<program::Mesh::Axis> mesh;
  uint64_t globalBatch = 0, sequence = 0, vocabulary = 0, microbatches = 0, parameters = 0;
  DataIdentity data;
  std::vector<File> files;
  std::vector<Tensor> tensors;

  uint64_t bytes() const; // of all files
};

std::string indexText(const Index &index);

struct ParsedIndex {
  Index index;
  std::vector<std::string> faults; // all of them, at most 32; empty: sound in itself
};
// Checks everything that can be checked without the files: the checksum, that file names are plain names, that every
// tensor's pieces make it up exactly.
ParsedIndex parseIndex(const std::string &text);

} // namespace hocket::checkpoint
#endif
