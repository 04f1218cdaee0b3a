// Writes the sample program to a file, for the section .hocket.program of the sample executables.
//   write-sample FILE [MEMORY [HOST]]   bytes of arena, and of the host's memory, that the program claims to need;
//   MEMORY 0: as it is
//   write-sample --seal EXECUTABLE      seals a finished one, as `hocket compile` does
#include "SampleProgram.h"
#include "runtime/Program/Executable.h"
#include <fstream>

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  if (argc > 2 && std::string(argv[1]) == "--seal")
    return !hocket::program::sealExecutable(argv[2]);
  hocket::program::ProgramT program = hocket::sample::sampleProgram();
  for (auto &rank : program.ranks) {
    if (argc > 2 && std::stoull(argv[2]))
      rank->arenaBytes = std::stoull(argv[2]);
    if (argc > 3)
      rank->hostBytes = std::stoull(argv[3]);
  }
  std::vector<uint8_t> file = hocket::program::write(program);
  return !std::ofstream(argv[1], std::ios::binary)
              .write(reinterpret_cast<const char *>(file.data()), static_cast<std::streamsize>(file.size()));
}
