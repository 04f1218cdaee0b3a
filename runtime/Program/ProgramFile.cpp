// Header, checksum and structure of the program file.
#include "runtime/Program/ProgramFile.h"
#include "runtime/Program/Checksum.h"
#include <cstring>
#include <fmt/format.h>

namespace hocket::program {

uint64_t checksum(std::span<const uint8_t> payload) {
  Checksum result;
  result.add(payload);
  return result.value();
}

std::vector<uint8_t> seal(std::span<const uint8_t> flatbuffer) {
  FileHeader header{};
  std::memcpy(header.magic, fileMagic, sizeof fileMagic);
  header.version = fileVersion;
  header.headerBytes = sizeof header;
  header.payloadBytes = flatbuffer.size();
  header.checksum = checksum(flatbuffer);
  std::vector<uint8_t> result(sizeof header + flatbuffer.size());
  std::memcpy(result.data(), &header, sizeof header);
  std::memcpy(result.data() + sizeof header, flatbuffer.data(), flatbuffer.size());
  return result;
}

std::vector<uint8_t> write(const ProgramT &program) {
  flatbuffers::FlatBufferBuilder builder(1 << 16);
  FinishProgramBuffer(builder, Program::Pack(builder, &program));
  return seal({builder.GetBufferPointer(), builder.GetSize()});
}

static std::string hex(std::span<const uint8_t> bytes) {
  std::string result;
  for (uint8_t byte : bytes)
    result += fmt::format("{}{:02x}", result.empty() ? "" : " ", byte);
  return result;
}

static std::string headerFault(std::span<const uint8_t> bytes, FileHeader &header) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % fileAlignment)
    return fmt::format("program lies at an address that is {} past a multiple of {}, expected a multiple",
                       reinterpret_cast<uintptr_t>(bytes.data()) % fileAlignment, fileAlignment);
  auto magic = std::span(reinterpret_cast<const uint8_t *>(fileMagic), sizeof fileMagic);
  auto start = bytes.first(std::min(bytes.size(), sizeof fileMagic));
  if (std::memcmp(start.data(), fileMagic, start.size()) != 0)
    return fmt::format("not a program file: starts with the bytes {}, expected {}", hex(start), hex(magic));
  if (bytes.size() < sizeof header)
    return fmt::format("program file is truncated: its header has {} bytes, expected {}", bytes.size(), sizeof header);
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != fileVersion)
    return fmt::format("program file has version {}, this runtime reads version {}", header.version, fileVersion);
  if (header.headerBytes != sizeof header)
    return fmt::format("program file is damaged: header length {}, expected {}", header.headerBytes, sizeof header);
  for (uint8_t byte : header.reserved)
    if (byte)
      return fmt::format("program file is damaged: reserved header byte is {}, expected 0", byte);
  if (bytes.size() - sizeof header != header.payloadBytes)
    return fmt::format("program file {}: {} bytes follow the header, which announces {}",
                       bytes.size() - sizeof header < header.payloadBytes ? "is truncated" : "is too long",
                       bytes.size() - sizeof header, header.payloadBytes);
  uint64_t found = checksum(bytes.subspan(sizeof header));
  if (found != header.checksum)
    return fmt::format("program file is damaged: its content has checksum {:016x}, the header says {:016x}", found,
                       header.checksum);
  return {};
}

Opened open(std::span<const uint8_t> bytes) {
  Opened result;
  FileHeader header;
  if (std::string fault = headerFault(bytes, header); !fault.empty()) {
    result.faults.push_back(std::move(fault));
    return result;
  }
  std::span<const uint8_t> payload = bytes.subspan(sizeof header);
  // A table takes at least 4 bytes of its own, so this bound never refuses a sound file and still ends on a cyclic one.
  constexpr flatbuffers::uoffset_t maxDepth = 16;
  flatbuffers::Verifier verifier(payload.data(), payload.size(), maxDepth,
                                 static_cast<flatbuffers::uoffset_t>(payload.size() / 4 + 1));
  if (payload.size() > FLATBUFFERS_MAX_BUFFER_SIZE || !VerifyProgramBuffer(verifier)) {
    result.faults.push_back(fmt::format("program file has a sound checksum but its {} bytes are not a program of the "
                                        "expected structure (identifier {})",
                                        payload.size(), ProgramIdentifier()));
    return result;
  }
  const Program *program = GetProgram(payload.data());
  result.faults = check(*program);
  if (result.faults.empty())
    result.program = program;
  return result;
}

} // namespace hocket::program
