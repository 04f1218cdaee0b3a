// Writes the sample program to a file, for the section .hocket.program of the sample executables.
//   write-sample FILE [MEMORY]   MEMORY: bytes of arena that the program claims to need
#include "SampleProgram.h"
#include <fstream>

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  hocket::program::ProgramT program = hocket::sample::sampleProgram();
  if (argc > 2)
    for (auto &rank : program.ranks)
      rank->arenaBytes = std::stoull(argv[2]);
  std::vector<uint8_t> file = hocket::program::write(program);
  return !std::ofstream(argv[1], std::ios::binary)
              .write(reinterpret_cast<const char *>(file.data()), static_cast<std::streamsize>(file.size()));
}
