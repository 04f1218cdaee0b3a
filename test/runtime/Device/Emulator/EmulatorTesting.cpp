// What all the small kernels share.
#include "EmulatorTesting.h"

namespace hocket::test {

std::string kernelText(std::string_view parameters, std::string_view body, std::string_view globals) {
  std::string text = R"(
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
@shared = internal addrspace(3) global [64 x i32] undef, align 16
)";
  text += globals;
  text += "\ndefine ptx_kernel void @k(";
  text += parameters;
  text += R"__() {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
)__";
  text += body;
  return text + "\n}\n";
}

} // namespace hocket::test
