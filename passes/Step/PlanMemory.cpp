// step-plan-memory: offsets for buffers, buffers for values, and bodies that work on buffers.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Step/BodyMemory.h"
#include "passes/Step/HostMemory.h"
#include "passes/Step/Passes.h"
#include "passes/Step/SlotMemory.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

namespace hocket::step {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "passes/Step/Passes.h.inc"
} // namespace hocket::step

namespace {
/// A kernel that copies one tensor; made once a type.
FlatSymbolRefAttr copyKernel(SymbolTable &symbols, RankedTensorType type) {
  std::string name = "copy";
  for (int64_t size : type.getShape())
    name += "_" + std::to_string(size);
  llvm::raw_string_ostream(name) << "_" << type.getElementType();
  if (symbols.lookup(name))
    return FlatSymbolRefAttr::get(type.getContext(), name);
  OpBuilder builder(type.getContext());
  Location loc = builder.getUnknownLoc();
  auto kernel = func::FuncOp::create(loc, name, builder.getFunctionType(type, type));
  kernel.setPrivate();
  Block *block = kernel.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  auto copy = nn::make<nn::ElementwiseOp>(builder, loc, TypeRange(type), ValueRange(block->getArguments()),
                                          builder.getStringAttr("copy"));
  func::ReturnOp::create(builder, loc, copy.getResults());
  Block *body = builder.createBlock(&copy.getBody(), {}, {nn::scalarType(type.getElementType())}, {loc});
  nn::ReturnOp::create(builder, loc, body->getArguments());
  symbols.insert(kernel);
  return FlatSymbolRefAttr::get(kernel);
}

/// Lays out one program.
struct ProgramMemory {
  ProgramOp program;
  SymbolTable &symbols;
  OpBuilder builder;
  int64_t top = 0;                 ///< of the arena so far
  llvm::StringMap<unsigned> names; ///< of buffers
  BodyOp firstBody;                ///< workspace buffers are declared before it

  ProgramMemory(ProgramOp program, SymbolTable &symbols)
      : program(program), symbols(symbols), builder(program.getContext()) {}

  int64_t take(int64_t bytes) {
    int64_t offset = top;
    top = aligned(top + bytes);
    return offset;
  }
  static int64_t bytesOf(BufferOp buffer) { return byteSize(cast<MemRefType>(buffer.getBuffer().getType())); }

  /// Buffers of the arena by class, then inputs of which begin sees all microbatches at once, over the same bytes.
  void placeArena() {
    auto buffers = llvm::to_vector(program.getBody().getOps<BufferOp>());
    llvm::stable_sort(buffers, [](BufferOp a, BufferOp b) { return a.getMemory() < b.getMemory(); });
    for (BufferOp buffer : buffers)
      if (buffer.getSpace() == Space::Arena)
        buffer.setOffset(take(bytesOf(buffer)));
    for (BufferOp buffer : buffers) {
      if (buffer.getSpace() != Space::Microbatch)
        continue;
      auto whole = llvm::find_if(buffers, [&](BufferOp other) {
        return other.getName() == (buffer.getName() + ".all").str() && other.getSpace() == Space::Arena;
      });
      int64_t bytes = bytesOf(buffer) * program.getMicrobatches();
      buffer.setOffset(whole != buffers.end() ? *whole->getOffset() : take(bytes));
    }
  }

  /// What is kept for a microbatch of a chain of chunks. Every slot is as large as the greatest chain needs, and chains
  /// lie over the same bytes: a slot serves one at a time.
  LogicalResult placeSlots() {
    SlotMemory memory(program);
    if (failed(memory.measure()))
      return failure();
    memory.place();
    uint32_t slots = 0;
    for (auto schedule : program.getBody().getOps<ScheduleOp>())
      for (const Row &row : schedule.getTable().getRows())
        slots = std::max(slots, row.slot + 1);
    program.setSlotBytes(memory.slotBytes);
    program.setSlotCount(slots);
    program.setSlotsOffset(take(memory.slotBytes * slots));
    return success();
  }

  /// Slots are free when the step is updated, but for messages that may still be on their way: the workspace of update
  /// begins where that of other bodies does, and goes on over the slots.
  void placeUpdate(BodyOp body, BodyMemory &plan, int64_t base) {
    SmallVector<ByteRange> taken = slotsBusyInUpdate(program);
    for (ByteRange &range : taken)
      range = {range.begin - base, range.end - base};
    plan.pack(taken);
    rewrite(body, plan, base);
    top = std::max(top, base + plan.workspaceBytes);
  }

  LogicalResult run() {
    if (failed(checkBodies()))
      return failure();
    for (auto buffer : program.ops<BufferOp>())
      ++names[buffer.getName()];
    placeArena();
    auto bodies = llvm::to_vector(program.getBody().getOps<BodyOp>());
    firstBody = bodies.empty() ? BodyOp() : bodies.front();
    SmallVector<std::unique_ptr<BodyMemory>> plans;
    int64_t workspace = 0;
    for (BodyOp body : bodies) {
      plans.push_back(std::make_unique<BodyMemory>(body, symbols));
      if (body.getKind() != BodyKind::Update)
        workspace = std::max(workspace, plans.back()->workspaceBytes);
    }
    int64_t base = take(workspace);
    for (auto [body, plan] : llvm::zip_equal(bodies, plans))
      if (body.getKind() != BodyKind::Update)
        rewrite(body, *plan, base);
    if (failed(placeSlots()))
      return failure();
    for (auto [body, plan] : llvm::zip_equal(bodies, plans))
      if (body.getKind() == BodyKind::Update)
        placeUpdate(body, *plan, base);
    program.setArenaBytes(top);
    return placeHost(program);
  }

  std::string uniqueName(StringRef name) {
    unsigned count = ++names[name];
    return count == 1 ? name.str() : (name + "." + Twine(count)).str();
  }

  /// Fusion has been here: what has no kernel would be lost.
  LogicalResult checkBodies() {
    bool sound = true;
    for (auto body : program.ops<BodyOp>())
      for (Operation &op : body.getBody().front())
        if (!isa<LoadOp, StoreOp, LaunchOp, GemmOp, CollectiveOp, TransferOp, AwaitOp, RankScalarOp>(op)) {
          op.emitOpError() << "is in no kernel; run codegen-fuse first";
          sound = false;
        }
    return success(sound);
  }

  /// A buffer for each value in the workspace, declared before the bodies.
  Value workspaceBuffer(Value value, const Piece &piece, int64_t base) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(firstBody);
    auto type = cast<RankedTensorType>(value.getType());
    Operation *def = value.getDefiningOp();
    bool communicates = isa<CollectiveOp>(def) ||
                        llvm::any_of(value.getUsers(), [](Operation *user) { return isa<CollectiveOp>(user); });
    std::string name = workText(def);
    if (StringRef path = nn::getPath(def).split('#').first; !path.empty())
      name = (path + "." + name).str();
    name = uniqueName(name);
    return BufferOp::create(builder, value.getLoc(), MemRefType::get(type.getShape(), type.getElementType()), name,
                            communicates ? MemoryClass::Communication : MemoryClass::Workspace, Space::Arena,
                            builder.getI64IntegerAttr(base + piece.offset), nn::SlotKindAttr(), nn::InitAttr(),
                            IntegerAttr(), dyn_cast_or_null<dist::ShardAttr>(nn::getSharding(cast<OpResult>(value))));
  }

  void copy(Location loc, Value from, Value to, Operation *like) {
    auto memref = cast<MemRefType>(from.getType());
    auto kernel = copyKernel(symbols, RankedTensorType::get(memref.getShape(), memref.getElementType()));
    LaunchOp::create(builder, loc, TypeRange(), kernel, from, ValueRange(), to, like->getAttrOfType<StringAttr>("path"),
                     like->getAttrOfType<nn::PhaseAttr>("phase"), ArrayAttr());
  }

  void rewrite(BodyOp body, BodyMemory &plan, int64_t base) {
    llvm::DenseMap<Value, Value> at(plan.buffers);
    for (const Piece &piece : plan.pieces)
      for (Value value : piece.values)
        at[value] = workspaceBuffer(value, piece, base);
    SmallVector<Operation *> old;
    for (Operation &op : body.getBody().front())
      old.push_back(&op);
    for (Operation *op : old) {
      builder.setInsertionPoint(op);
      if (auto load = dyn_cast<LoadOp>(op)) {
        if (plan.copiedLoads.contains(op))
          copy(op->getLoc(), load.getBuffer(), at[load.getValue()], op);
      } else if (auto store = dyn_cast<StoreOp>(op)) {
        if (plan.copiedStores.contains(op))
          copy(op->getLoc(), at[store.getValue()], store.getBuffer(), store.getValue().getDefiningOp());
      } else if (isa<AwaitOp>(op)) {
        builder.clone(*op);
      } else if (isa<LaunchOp, GemmOp, CollectiveOp, TransferOp>(op)) {
        rewriteWork(op, at);
      }
    }
    for (Operation *op : llvm::reverse(old))
      if (!isa<RankScalarOp>(op))
        op->erase();
  }

  void rewriteWork(Operation *op, llvm::DenseMap<Value, Value> &at) {
    auto there = [&](Value value) { return at.lookup(value); };
    SmallVector<Value> outs = llvm::map_to_vector(op->getResults(), [&](OpResult r) { return at.lookup(r); });
    auto path = op->getAttrOfType<StringAttr>("path");
    auto phase = op->getAttrOfType<nn::PhaseAttr>("phase");
    if (auto launch = dyn_cast<LaunchOp>(op)) {
      LaunchOp::create(builder, op->getLoc(), TypeRange(), launch.getKernelAttr(),
                       llvm::map_to_vector(launch.getInputs(), there), launch.getScalars(), outs, path, phase,
                       ArrayAttr());
    } else if (auto gemm = dyn_cast<GemmOp>(op)) {
      Value c = gemm.getC() ? at.lookup(gemm.getC()) : Value();
      if (c && c != outs[0] && offsetOf(c) != offsetOf(outs[0]))
        copy(op->getLoc(), c, outs[0], op);
      GemmOp::create(builder, op->getLoc(), TypeRange(), there(gemm.getA()), there(gemm.getB()), c ? outs[0] : Value(),
                     gemm.getExtra() ? there(gemm.getExtra()) : Value(), outs, gemm.getEpilogueAttr(),
                     gemm.getTransAAttr(), gemm.getTransBAttr(), gemm.getMnkAttr(), gemm.getLeadingAttr(),
                     gemm.getBatchAttr(), gemm.getStridesAttr(), path, phase, ArrayAttr());
    } else if (auto transfer = dyn_cast<TransferOp>(op)) {
      TransferOp::create(builder, op->getLoc(), TypeRange(), there(transfer.getInput()), outs, transfer.getStreamAttr(),
                         transfer.getCauseAttr(), path, phase, ArrayAttr());
    } else {
      auto collective = cast<CollectiveOp>(op);
      CollectiveOp::create(builder, op->getLoc(), TypeRange(), collective.getKindAttr(), collective.getReductionAttr(),
                           there(collective.getInput()), outs, collective.getAxes(), collective.getStagesAttr(),
                           collective.getStreamAttr(), collective.getCauseAttr(), path, phase, ArrayAttr());
    }
  }
  static std::pair<Space, std::optional<uint64_t>> offsetOf(Value buffer) {
    auto op = buffer.getDefiningOp<BufferOp>();
    if (op.getSpace() == Space::Slot) // slots are laid out last; two of them are never the same
      return {Space::Slot, reinterpret_cast<uintptr_t>(op.getOperation())};
    return {op.getSpace(), op.getOffset()};
  }
};

struct PlanMemoryPass : hocket::step::impl::PlanMemoryPassBase<PlanMemoryPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<ProgramOp>())
      if (failed(ProgramMemory(program, symbols).run()))
        return signalPassFailure();
  }
};
} // namespace
