// The emulator's library, opened when somebody asks for it: it links LLVM, which the runtime does not.
#ifndef HOCKET_RUNTIME_DEVICE_OPENEMULATOR_H
#define HOCKET_RUNTIME_DEVICE_OPENEMULATOR_H

#include "runtime/Device/Device.h"

namespace hocket::runtime {

// Opens libhocket_emulator.so beside this program ($ORIGIN, $ORIGIN/../lib), beside a program in `toolFolder` (where
// given), beside the hocket-run that the PATH names (ranks of torchrun and srun know no other), then where the loader
// looks. `seed` draws the order of work on different streams; `check` turns the checker on. Lacking where there is no
// such library, and where the one found is of another version: objects with virtual functions cross this border, so
// both sides must have been compiled from the same headers (InterfaceHash.h).
Result<std::unique_ptr<Device>> openEmulatorDevice(uint64_t seed, bool check, const std::string &toolFolder = "");

} // namespace hocket::runtime
#endif
