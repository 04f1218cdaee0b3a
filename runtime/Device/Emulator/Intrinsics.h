// What a kernel may call, by name: llvm.nvvm.*, libdevice's functions, inline assembly.
//
// A direct function takes and returns scalars as the host's C ABI has them (f32, f64, integers), and replaces the
// callee. A packed one gets its arguments as a C struct of them, writes its result where it is told, and learns the
// site it is called from.
#ifndef HOCKET_RUNTIME_DEVICE_EMULATOR_INTRINSICS_H
#define HOCKET_RUNTIME_DEVICE_EMULATOR_INTRINSICS_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace hocket::runtime::emulator {

using PackedFunction = void (*)(void *result, const void *arguments, uint32_t site);

struct Intrinsic {
  void *function = nullptr;
  bool packed = false;
  bool pure = false; // reads and writes no memory, meets nobody: may be moved and merged
};

using IntrinsicTable = std::map<std::string, Intrinsic, std::less<>>;
template <class F> Intrinsic direct(F *function) { return {reinterpret_cast<void *>(function), false, true}; }
inline Intrinsic packed(PackedFunction function) { return {reinterpret_cast<void *>(function), true, false}; }
inline Intrinsic packedPure(PackedFunction function) { return {reinterpret_cast<void *>(function), true, true}; }

const IntrinsicTable &intrinsics();      // "llvm.nvvm.shfl.sync.bfly.i32"
const IntrinsicTable &deviceFunctions(); // "__nv_expf", for when there is no libdevice
const IntrinsicTable &assembly();        // "tanh.approx.f32 $0, $1;", blanks as one
const IntrinsicTable &hostFunctions();   // "exp2f": what LLVM calls for llvm.exp2.f32 and the like

// Parts of intrinsics(), each in the file that implements it.
void addIndexIntrinsics(IntrinsicTable &table);   // threads and blocks
void addBarrierIntrinsics(IntrinsicTable &table); // barriers and fences
void addWarpIntrinsics(IntrinsicTable &table);    // shuffles, votes, matches
void addMatrixIntrinsics(IntrinsicTable &table);  // ldmatrix, stmatrix, mma.sync
void addCopyIntrinsics(IntrinsicTable &table);    // cp.async
void addMathIntrinsics(IntrinsicTable &table);    // arithmetic
void addConversionIntrinsics(IntrinsicTable &table);

} // namespace hocket::runtime::emulator
#endif
