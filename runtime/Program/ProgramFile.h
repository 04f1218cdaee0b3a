// The program file: 64 bytes of header, then the FlatBuffer of program.fbs. `seal` and `write` make one; `open` trusts
// nothing: header, checksum, structure, and then every index, offset, size, enum and wait that the runtime will follow.
#ifndef HOCKET_RUNTIME_PROGRAM_PROGRAMFILE_H
#define HOCKET_RUNTIME_PROGRAM_PROGRAMFILE_H

#include "runtime/Program/program_generated.h"
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hocket::program {

inline constexpr char fileMagic[8] = {'H', 'O', 'C', 'K', 'E', 'T', '\r', '\n'};
// Raised by every change of program.fbs or of its meaning that an older runtime would misread.
inline constexpr uint32_t fileVersion = 1;
inline constexpr size_t fileAlignment = 64;

// Names of entries. Every program has the first: one training step (begin, microbatches, update).
inline constexpr char trainEntry[] = "train";
inline constexpr char evalEntry[] = "eval";

// Little-endian. The bytes that follow are the FlatBuffer, `payloadBytes` of them and no more.
struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t headerBytes; // 64
  uint64_t payloadBytes;
  uint64_t checksum;    // of the payload
  uint8_t reserved[32]; // zero
};
static_assert(sizeof(FileHeader) == fileAlignment);

// Changes whenever one 8-byte word of the payload changes; not meant against forgery.
uint64_t checksum(std::span<const uint8_t> payload);

// The file for a program (object API of FlatBuffers), or for a buffer that was finished with FinishProgramBuffer.
std::vector<uint8_t> write(const ProgramT &program);
std::vector<uint8_t> seal(std::span<const uint8_t> flatbuffer);

// A checked program. It lies in the bytes given to `open` and lives as long as they do.
// `faults` is empty exactly when `program` is set; a damaged or foreign file is one fault, a file whose content
// contradicts itself lists all (at most 32).
struct Opened {
  const Program *program = nullptr;
  std::vector<std::string> faults;
};

// `bytes` start at a multiple of 64.
Opened open(std::span<const uint8_t> bytes);

// The semantic check alone, of a program whose structure is sound.
std::vector<std::string> check(const Program &program);

} // namespace hocket::program
#endif
