// Finds how every op of a training step is split, from the shardings of its slots.
//
// Each op has, for each factor, the mesh atoms that split it. Each value has a wish: the split of its dimensions that
// its producer and its uses agree on. Ops take over the wishes of operands and results into their factors, and extend
// wishes by their factors, forward and backward, until nothing changes. Who comes first wins: slots with a sharding
// stand from the start and never change; then program order decides. Splits of parameters settle before those of
// inputs: weights of experts that are split over axes of the batch keep their split, and tokens come to them.
//   - A factor is extended, never re-split: ["tp"] may become ["tp", "dp"], not ["dp"].
//   - An atom splits one factor of an op, and one dimension of a value.
//   - `whole` factors stay whole.
//   - A parameter without a sharding takes what begin and microbatch find for it; `update` changes no slot, so ZeRO's
//     split of moments does not reach parameters.
//   - An accumulator, partial at rest, may be joined into shards: its wish is extended by atoms over which it is
//     partial. That makes ZeRO's reduce_scatter.
//   - What microbatch reads of a slot that is `used as` something else than it lies at rest wishes what it is used as;
//     so a parameter that ZeRO-3 splits at rest is gathered, and no op is split by it. An accumulator that ZeRO-2
//     splits at rest splits the sum that goes into it; of what is added it wishes no more than what it is used as: the
//     gradient is made, and cast, as a summand, and then scattered.
//
//   - Then ops are split that tactics speak of and not slots: the sequence of ops that do not use the axes of
//     `sequence`, the heads of attention under `context all_to_all`. What is found from these is added to what was
//     there.
//
//   - A product whose sum with another is partial over more axes than itself may take these for what it contracts
//     (JointSums.cpp); no other op hears of that.
//
// The sharding in which an op makes a result: the atoms of its dimensions' factors, and partial over the atoms of
// factors that it does not have. Partial values are joined where they are made, but for:
//   - `add` and other ops whose operands are jointly linear: where all of these are partial over an axis and are used
//     nowhere else, so is the result (dq Wq^T + dkv Wkv^T is joined once; so are the gradients of the uses of a tied
//     parameter);
//   - what experts give: it is joined behind the op that puts it together, where that is less (LateSums.cpp);
//   - a cast of summands, which is there to stand before the sum;
//   - accumulators, which are partial at rest.
// Numbers without dimensions in `update` are always joined where they are made: one square sum a parameter, added in
// the order of the model whatever the plan.
#pragma once
#include "passes/Dist/AxisAtoms.h"
#include "passes/Dist/StepGraph.h"

namespace hocket::dist {

/// Split of each dimension, and the atoms over which a value is (or may stay) partial.
struct Spread {
  AtomDims dims;
  Atoms partial;
  Reduction reduction = Reduction::Sum;
  bool operator==(const Spread &) const = default;
};

/// A wish that an op cannot follow.
struct Obstacle {
  int op; ///< index into StepGraph::ops
  int factor;
  bool whole; ///< the factor must stay whole; otherwise `atom` splits `other`, or stands elsewhere in `factor`
  int other;  ///< the factor that atom splits instead
  Atom atom;
  Node node; ///< the value that wishes it
  int dim;
};

class Propagation {
public:
  /// The graph must outlive the result. Fails, with an error, on shardings of slots that name no axes of the mesh.
  static llvm::FailureOr<Propagation> run(const StepGraph &graph, MeshOp mesh);

  const StepGraph &getGraph() const { return *graph; }
  const AxisAtoms &getAtoms() const { return atoms; }
  llvm::ArrayRef<Atom> factor(int op, int factor) const { return factors[op][factor]; }
  const AtomDims &wish(Node node) const { return wishes[node]; }

  Spread atRest(nn::SlotOp slot) const;
  /// How `value` is made.
  Spread natural(mlir::Value value) const;
  /// How the op of `operand` needs it.
  Spread need(mlir::OpOperand &operand) const;
  ShardingAttr toSharding(const Spread &spread) const {
    return atoms.toSharding(spread.dims, spread.partial, spread.reduction);
  }

  llvm::SmallVector<Obstacle> obstacles() const;

private:
  Propagation(const StepGraph &graph, AxisAtoms atoms) : graph(&graph), atoms(std::move(atoms)) {}
  static llvm::FailureOr<Propagation> run(const StepGraph &graph, MeshOp mesh, PlanOp plan,
                                          llvm::ArrayRef<AxisRef> cuts);
  void start();
  void startInputs();
  void boundSums(Node accumulator, ShardingAttr use);
  void settle(llvm::ArrayRef<int> ops);
  bool visit(int op);
  bool giveOwn(const StepOp &op);
  bool takeOver(int op, int factor, llvm::ArrayRef<Atom> wish);
  bool extend(Node node, int dim, llvm::ArrayRef<Atom> list);
  void findPartials(llvm::ArrayRef<int> ops);
  Atoms staysPartial(const StepOp &op) const;
  // Sequence and context parallelism (SequenceSplits.cpp). Fails, with an error, where heads cannot be split.
  void closeAttention(PlanOp plan);
  bool isClosed(int op, int factor, Atom atom) const;
  llvm::SmallVector<AxisRef> cutsForHeads(PlanOp plan) const; ///< sub-axes that `splitHeads` needs
  llvm::LogicalResult splitHeads(PlanOp plan);
  void refuseHeads(ContextOp context, mlir::Operation *op, int64_t kvHeads, int64_t groups, int64_t others,
                   std::string &refused) const;
  // JointSums.cpp
  int factorToShare(int op, Atom atom) const;
  void joinSums(llvm::ArrayRef<int> ops);
  // LateSums.cpp
  Atoms sumsForLater(mlir::Value value) const;   ///< what every use of `value` can leave to its result, for less
  int operandToSumLater(const StepOp &op) const; ///< whose sum is taken of the result instead; -1 if none
  void splitSequences(PlanOp plan, llvm::ArrayRef<int> ops);

  const StepGraph *graph;
  AxisAtoms atoms;
  llvm::SmallVector<AtomDims, 0> wishes;  ///< by node
  llvm::SmallVector<AtomDims, 0> factors; ///< by op
  llvm::SmallVector<Atoms, 0> passed;     ///< by op: partial atoms of joint operands that the results keep
  llvm::DenseMap<int, int> summedLater;   ///< by op: the operand that may be partial over `passed`, where none is joint
  llvm::SmallVector<Atoms, 0> reserve;    ///< by node: the only atoms that a fixed node may be extended by
  llvm::SmallVector<Atoms, 0> owned;      ///< by op: axes of its own, where it is a manual region
  llvm::BitVector fixed;                  ///< by node
  llvm::DenseMap<std::pair<int, int>, int>
      shared; ///< by op and factor: how many of its last atoms are this op's own affair
  llvm::MapVector<int, std::pair<int, Atoms>> closed; ///< by op: a factor, and the atoms that must not split it
  /// Sums into accumulators that are used otherwise than they lie: what they may wish of operands, by factor.
  llvm::DenseMap<int, AtomDims> bounds;
};
} // namespace hocket::dist
