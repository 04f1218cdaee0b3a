// Tactics of plans.
#include "dialect/Builder/State.h"

namespace hocket {
using namespace detail;

/// The axes of a tactic; null, and a fault, where they cannot be an attribute.
static dist::AxesAttr axesOf(State &state, const Over &over, const Where &where) {
  llvm::SmallVector<dist::AxisRef> refs;
  for (const Axis &axis : over.axes) {
    dist::AxisRef ref;
    ref.name = mlir::StringAttr::get(&state.context, axis.name);
    if (axis.part) {
      ref.pre = (*axis.part)[0];
      ref.size = (*axis.part)[1];
    }
    refs.push_back(ref);
  }
  return dist::AxesAttr::getChecked([&] { return state.fault(where); }, &state.context,
                                    llvm::ArrayRef<dist::AxisRef>(refs));
}

/// Writes one tactic at the plan's end, given its axes.
template <typename Write>
static void enter(State &state, mlir::Operation *plan, const Over &over, const Where &where, Write write) {
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(&plan->getRegion(0).front());
  if (dist::AxesAttr axes = axesOf(state, over, where))
    write(builder, state.at(where), axes);
}

Plan &Plan::batch(const Over &over, Microbatch microbatch, Where where) {
  enter(*state, Access::op(*this), over, where, [&](auto &builder, mlir::Location loc, dist::AxesAttr axes) {
    dist::BatchOp::create(builder, loc, axes, static_cast<uint64_t>(microbatch.sequences));
  });
  return *this;
}

Plan &Plan::split(std::string_view pattern, Dim dim, const Over &over, Heads heads, Where where) {
  enter(*state, Access::op(*this), over, where, [&](auto &builder, mlir::Location loc, dist::AxesAttr axes) {
    dist::SplitOp::create(builder, loc, builder.getStringAttr(pattern), builder.getI64IntegerAttr(dim.index),
                          mlir::StringAttr(), axes, heads == uneven);
  });
  return *this;
}

Plan &Plan::split(Megatron, const Over &over, Heads heads, Where where) {
  enter(*state, Access::op(*this), over, where, [&](auto &builder, mlir::Location loc, dist::AxesAttr axes) {
    dist::SplitOp::create(builder, loc, mlir::StringAttr(), mlir::IntegerAttr(), builder.getStringAttr("megatron"),
                          axes, heads == uneven);
  });
  return *this;
}

Plan &Plan::experts(const Over &over, Where where) {
  enter(*state, Access::op(*this), over, where,
        [&](auto &builder, mlir::Location loc, dist::AxesAttr axes) { dist::ExpertsOp::create(builder, loc, axes); });
  return *this;
}

Plan &Plan::sequence(const Over &over, Where where) {
  enter(*state, Access::op(*this), over, where, [&](auto &builder, mlir::Location loc, dist::AxesAttr axes) {
    dist::SequenceOp::create(builder, loc, axes, mlir::UnitAttr());
  });
  return *this;
}

Plan &Plan::sequence(const Over &over, KeepGathered, Where where) {
  enter(*state, Access::op(*this), over, where, [&](auto &builder, mlir::Location loc, dist::AxesAttr axes) {
    dist::SequenceOp::create(builder, loc, axes, builder.getUnitAttr());
  });
  return *this;
}

Plan &Plan::context(const Over &over, Context kind, Where where) {
  enter(*state, Access::op(*this), over, where, [&](auto &builder, mlir::Location loc, dist::AxesAttr axes) {
    auto known = kind == Context::ring         ? dist::ContextKind::Ring
                 : kind == Context::all_gather ? dist::ContextKind::AllGather
                                               : dist::ContextKind::AllToAll;
    dist::ContextOp::create(builder, loc, axes, known);
  });
  return *this;
}

Plan &Plan::split(Automatic, const Over &over, Where where) {
  enter(*state, Access::op(*this), over, where, [&](auto &builder, mlir::Location loc, dist::AxesAttr axes) {
    dist::SplitOp::create(builder, loc, mlir::StringAttr(), mlir::IntegerAttr(), builder.getStringAttr("auto"), axes);
  });
  return *this;
}

Plan &Plan::stages(const Over &over, const Schedule &schedule, Where where) {
  return stages(over, StageSizes(), schedule, where);
}

Plan &Plan::stages(const Over &over, const StageSizes &sizes, const Schedule &schedule, Where where) {
  enter(*state, Access::op(*this), over, where, [&](auto &builder, mlir::Location loc, dist::AxesAttr axes) {
    auto cuts = sizes.layers.empty() ? mlir::DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(sizes.layers);
    auto table = schedule.table ? builder.getStringAttr(*schedule.table) : mlir::StringAttr();
    auto chunks = schedule.chunks ? builder.getI64IntegerAttr(*schedule.chunks) : mlir::IntegerAttr();
    dist::StagesOp::create(builder, loc, axes, sizes.byCost, cuts, builder.getStringAttr(schedule.name), table, chunks);
  });
  return *this;
}

Plan &Plan::zero(int64_t stage, const Over &over, ZeroOptions options, Where where) {
  enter(*state, Access::op(*this), over, where, [&](auto &builder, mlir::Location loc, dist::AxesAttr axes) {
    auto *context = builder.getContext();
    auto gather = options.gather == Gather::Chosen
                      ? dist::GatherAttr()
                      : dist::GatherAttr::get(context, static_cast<dist::Gather>(static_cast<int>(options.gather)));
    dist::ZeroOp::create(builder, loc, builder.getI64IntegerAttr(stage), axes, gather,
                         options.bucket ? builder.getI64IntegerAttr(*options.bucket) : mlir::IntegerAttr());
  });
  return *this;
}
Plan &Plan::zero(int64_t stage, const Over &over, Where where) { return zero(stage, over, {}, where); }

static mlir::OpBuilder endOf(mlir::Operation *plan) { return mlir::OpBuilder::atBlockEnd(&plan->getRegion(0).front()); }
static mlir::StringAttr patternOf(State &state, std::optional<std::string_view> pattern) {
  return pattern ? mlir::StringAttr::get(&state.context, *pattern) : mlir::StringAttr();
}
/// An enum of the language as that of the dialect, which has the same values.
template <typename To, typename From> static To as(From value) { return static_cast<To>(static_cast<int>(value)); }

Plan &Plan::recompute(Recompute kind, std::optional<std::string_view> pattern, Where where) {
  mlir::OpBuilder builder = endOf(Access::op(*this));
  dist::RecomputeOp::create(builder, state->at(where), patternOf(*state, pattern), as<dist::Recompute>(kind));
  return *this;
}
Plan &Plan::offload(Offload what, std::optional<std::string_view> pattern, Where where) {
  mlir::OpBuilder builder = endOf(Access::op(*this));
  dist::OffloadOp::create(builder, state->at(where), as<dist::Offload>(what), patternOf(*state, pattern));
  return *this;
}
Plan &Plan::overlap(Overlap what, Where where) {
  mlir::OpBuilder builder = endOf(Access::op(*this));
  dist::OverlapOp::create(builder, state->at(where), as<dist::Overlap>(what));
  return *this;
}
} // namespace hocket
