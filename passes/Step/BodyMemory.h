// Where the values of one body live: in a buffer of the program, or in the workspace for as long as they are used.
#pragma once
#include "dialect/Step/Step.h"
#include "passes/Step/Packing.h"
#include "llvm/ADT/MapVector.h"

namespace hocket::step {
inline constexpr int64_t bufferAlignment = 64; ///< bytes

inline int64_t aligned(int64_t bytes) { return llvm::alignTo(bytes, bufferAlignment); }

/// Which results of a launch may be made where an operand lies: pairs (result, operand), from the attribute
/// `hocket.in_place` of its kernel (array<i64: result, operand, …>).
llvm::SmallVector<std::pair<unsigned, unsigned>> inPlacePairs(LaunchOp launch, mlir::SymbolTable &symbols);

/// The lowest aligned offset at which so many bytes meet none that are busy. Sorts them.
int64_t firstFit(llvm::SmallVector<ByteRange> &busy, int64_t bytes);

/// A piece of workspace. Values share one when each is made where the one before it dies (in place).
/// Needed from one op of the body to another.
struct Piece : Packed {
  llvm::SmallVector<mlir::Value> values = {};
};

/// The plan of one body. Rules:
///   - a loaded value lives in its buffer, unless the buffer is written before its last use: then it is copied first;
///   - a stored value is made in the buffer if nothing reads the buffer's old content from then on (the op that makes it
///     may, if it works in place there); else it is copied at the store;
///   - a product that adds to a value works in place on it;
///   - every other value has a piece of workspace, taken over in place from an operand that dies there where the op
///     allows it.
/// An op on a stream of its own uses its operand and its result until it is awaited: until then neither's place is
/// given away.
struct BodyMemory {
  BodyMemory(BodyOp body, mlir::SymbolTable &symbols);

  llvm::DenseMap<mlir::Value, mlir::Value> buffers; ///< value -> buffer of the program
  llvm::DenseMap<mlir::Value, unsigned> pieceOf;    ///< value -> index in `pieces`
  llvm::SmallVector<Piece> pieces;
  llvm::DenseSet<mlir::Operation *> copiedStores, copiedLoads;
  int64_t workspaceBytes = 0;

  /// Places the pieces, around what is `taken` of the workspace all along.
  void pack(llvm::ArrayRef<ByteRange> taken = {});

private:
  void number();
  void placeLoadsAndStores();
  bool mayMakeIn(mlir::Value value, mlir::Value buffer, StoreOp store);
  bool endsBefore(StoreOp store, mlir::Value next);
  bool worksInPlace(mlir::Operation *op, unsigned result, mlir::Value operand);
  bool diesIn(const Piece &piece, mlir::Operation *op) const;
  void placeOthers();
  void followStreams();
  unsigned endOf(mlir::Operation *op) const;
  unsigned lastUse(mlir::Value value, mlir::Operation *butOf = nullptr) const;

  BodyOp body;
  mlir::SymbolTable &symbols;
  llvm::DenseMap<mlir::Operation *, unsigned> place;
  llvm::DenseMap<mlir::Operation *, unsigned> awaitedAt; ///< of ops on streams
  llvm::DenseMap<mlir::Value, llvm::SmallVector<LoadOp>> loadsOf;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<StoreOp>> storesOf;
};
} // namespace hocket::step
