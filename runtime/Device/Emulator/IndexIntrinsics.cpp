// Where a thread is: llvm.nvvm.read.ptx.sreg.*.
#include "runtime/Device/Emulator/Block.h"
#include "runtime/Device/Emulator/Intrinsics.h"

namespace hocket::runtime::emulator {

namespace {
Block &block() { return Block::running(); }
} // namespace

void addIndexIntrinsics(IntrinsicTable &table) {
  auto add = [&](const char *name, uint32_t (*function)()) {
    table.emplace(std::string("llvm.nvvm.read.ptx.sreg.") + name, direct(function));
  };
  add("tid.x", [] { return block().thread().index.x; });
  add("tid.y", [] { return block().thread().index.y; });
  add("tid.z", [] { return block().thread().index.z; });
  add("ntid.x", [] { return block().launch().block.x; });
  add("ntid.y", [] { return block().launch().block.y; });
  add("ntid.z", [] { return block().launch().block.z; });
  add("ctaid.x", [] { return block().index().x; });
  add("ctaid.y", [] { return block().index().y; });
  add("ctaid.z", [] { return block().index().z; });
  add("nctaid.x", [] { return block().launch().grid.x; });
  add("nctaid.y", [] { return block().launch().grid.y; });
  add("nctaid.z", [] { return block().launch().grid.z; });
  add("laneid", [] { return block().thread().lane; });
  add("warpid", [] { return block().thread().warp; });
  add("nwarpid", [] { return static_cast<uint32_t>((block().launch().block.count() + 31) / 32); });
  add("warpsize", [] { return 32u; });
  add("lanemask.eq", [] { return 1u << block().thread().lane; });
  add("lanemask.lt", [] { return (1u << block().thread().lane) - 1; });
  add("lanemask.le", [] { return (2u << block().thread().lane) - 1; });
  add("lanemask.gt", [] { return ~((2u << block().thread().lane) - 1); });
  add("lanemask.ge", [] { return ~((1u << block().thread().lane) - 1); });
  add("dynamic_smem_size", [] { return block().launch().dynamicBytes; });
  add("total_smem_size", [] { return block().launch().dynamicBytes + block().launch().staticBytes; });
}

} // namespace hocket::runtime::emulator
