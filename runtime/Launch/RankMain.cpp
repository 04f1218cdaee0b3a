// `main` of an executable made by `hocket compile`. A library of its own, since only an executable has the symbols:
//   hocket_program_begin, hocket_program_end   the program file, in the section .hocket.program, aligned to 64
//   hocket_kernels, hocket_kernel_count        struct { const char *name; void *function; } and uint64_t
// It is a rank of hocket-run where the environment says so; otherwise a rank of mpirun, srun or torchrun, with a
// command line; with a command line alone it runs where it has one rank.
#include "runtime/Executor/OutOfMemory.h"
#include "runtime/Launch/CrewRun.h"
#include "runtime/Launch/FileSizeLimit.h"
#include <cstdlib>

extern "C" {
extern const uint8_t hocket_program_begin[], hocket_program_end[];
extern const hocket::runtime::KernelEntry hocket_kernels[];
extern const uint64_t hocket_kernel_count;

int hocket_rank_main(int argc, char **argv) {
  hocket::runtime::RankImage image{{hocket_program_begin, hocket_program_end},
                                   {hocket_kernels, hocket_kernels + hocket_kernel_count}};
  bool ofHocketRun = std::getenv(hocket::runtime::runVariable);
  if (!ofHocketRun && hocket::run::isRankOfMpi())
    return hocket::run::runOverMpi(image, argc, argv);
  if (!ofHocketRun && hocket::run::isRankOverTcp())
    return hocket::run::runOverTcp(image, argc, argv);
  if (!ofHocketRun && argc > 1)
    return hocket::run::runAlone(image, argc, argv);
  return hocket::runtime::runRank(image);
}
}

int main(int argc, char **argv) {
  hocket::run::makeFileSizeLimitAnError();
  std::set_new_handler(hocket::runtime::endWithoutMemory);
  return hocket_rank_main(argc, argv);
}
