// The checksum of program files, executables and checkpoints, made piece by piece: FNV-1a over 8-byte words. Each step
// is a bijection of the state, so one changed word always changes the result; not meant against forgery.
#ifndef HOCKET_RUNTIME_PROGRAM_CHECKSUM_H
#define HOCKET_RUNTIME_PROGRAM_CHECKSUM_H

#include <cstdint>
#include <cstring>
#include <span>

namespace hocket::program {

class Checksum {
public:
  // The pieces may be cut anywhere: the result is that of all their bytes.
  void add(std::span<const uint8_t> bytes) {
    total += bytes.size();
    while (kept && !bytes.empty()) { // fill the word that is begun
      partial |= uint64_t(bytes[0]) << (8 * kept);
      bytes = bytes.subspan(1);
      kept = (kept + 1) % 8;
      if (!kept)
        word();
    }
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
      std::memcpy(&partial, bytes.data(), 8);
      word();
    }
    for (uint8_t byte : bytes)
      partial |= uint64_t(byte) << (8 * kept++);
  }
  uint64_t value() const {
    Checksum end = *this;
    end.word(); // what is left of a word; zero where nothing is
    end.partial = total;
    end.word();
    return end.hash;
  }

private:
  void word() {
    hash = (hash ^ partial) * 0x100000001b3;
    hash ^= hash >> 29;
    partial = 0;
  }
  uint64_t hash = 0xcbf29ce484222325, partial = 0, total = 0;
  unsigned kept = 0; // bytes in `partial`
};

} // namespace hocket::program
#endif
