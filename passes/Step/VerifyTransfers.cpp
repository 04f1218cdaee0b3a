// Who touches the host's memory: step-verify-program's checks of transfers. What they copy where is VerifyContents'.
#include "passes/Step/HostMemory.h"
#include "passes/Step/VerifyProgram.h"
using namespace mlir;
using namespace hocket::step;

static bool liesInHost(Value value) {
  auto buffer = value.getDefiningOp<BufferOp>();
  return buffer && inHost(buffer);
}

static void verifyTransfer(VerifyContext &context, TransferOp transfer) {
  if (transfer.getOuts().empty())
    return; // told already: it makes tensors
  bool from = liesInHost(transfer.getInput()), to = liesInHost(transfer.getOuts().front());
  if (from == to)
    context.fault(transfer) << sayWork(transfer) << " copies within the " << (from ? "host's" : "device's")
                            << " memory; a transfer is between device and host";
}

void hocket::step::verifyTransfers(VerifyContext &context) {
  for (ProgramOp program : context.programs)
    for (auto body : program.ops<BodyOp>())
      for (Operation &op : body.getBody().front()) {
        if (auto transfer = dyn_cast<TransferOp>(op)) {
          verifyTransfer(context, transfer);
          continue;
        }
        SmallVector<Value> all = readsOf(&op);
        llvm::append_range(all, writesOf(&op));
        for (Value value : all)
          if (liesInHost(value))
            context.fault(&op) << sayWork(&op) << " uses '" << value.getDefiningOp<BufferOp>().getName()
                               << "' in the host's memory; only transfers do";
      }
}
