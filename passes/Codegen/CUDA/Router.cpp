// The choice of experts and its derivative, in a few kernels: a warp a token chooses; a warp a choice finds its place
// by counting the choices of its expert that come before it, in order of position (quadratic in the tokens of a
// sequence, 32 at once; fine to 10^4); a warp an expert counts its choices and adds up its shares, and a block a
// sequence the load of all. What one kernel finds for the next is in the scratch.
#include "passes/Codegen/CUDA/RouterWarp.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace hocket::cuda {
namespace {
constexpr int64_t align = 16;

/// Parts of the scratch: chosen experts of each choice (i32), shares of each token (f32), of each expert counts and
/// their products with the shares (f32).
struct Scratch {
  int64_t chosen = 0, shares, counts, products, bytes;
  Scratch(int64_t batch, int64_t tokens, int64_t experts, int64_t top, bool hasShares) {
    shares = llvm::alignTo(batch * tokens * top * 4, align);
    counts = shares + (hasShares ? llvm::alignTo(batch * tokens * experts * 4, align) : 0);
    products = counts + llvm::alignTo(batch * experts * 4, align);
    bytes = products + (hasShares ? llvm::alignTo(batch * experts * 4, align) : 0);
  }
};

template <typename OpT> Scratch scratchOf(OpT op, bool hasShares) {
  auto shape = op.getLogits().getType().getShape();
  return {shape[0], shape[1], shape[2], op.getTopAttr().getInt(), hasShares};
}
Value isFirst(GpuEmit &e, Value lane, Value there) {
  return e.both(e.compare(arith::CmpIPredicate::eq, lane, e.i64(0)), there);
}

/// A warp a token: its choices, and what the load needs of it.
template <typename OpT>
Launch chooseExperts(GpuEmit &e, GpuFrame &frame, OpT op, const Scratch &parts, Value weights, bool hasShares) {
  RouterWarp router(e, frame, op);
  Value chosenBase = frame.scratch(e, parts.chosen), shares = frame.scratch(e, parts.shares);
  return overWarps(e, router.batch * router.tokens, [&](Value token, Value lane, Value there) {
    Value all = router.score(e.times(token, router.experts), lane);
    auto chosen = router.choose();
    SmallVector<Value> found;
    Value sum = router.real(0);
    if (weights)
      for (Value expert : chosen)
        found.push_back(router.ofExpert(router.scores, expert)), sum = e.add(sum, found.back());
    e.when(isFirst(e, lane, there), [&] {
      for (auto [j, expert] : llvm::enumerate(chosen)) {
        Value choice = e.plus(e.times(token, router.top), static_cast<int64_t>(j));
        e.store(e.getI32Type(), arith::TruncIOp::create(e, e.getI32Type(), expert), chosenBase, choice);
        if (!weights)
          continue;
        Value weight = e.mul(found[j], router.real(router.scale));
        e.store(e.getF32Type(), router.normalized ? e.div(weight, sum) : weight, weights, choice);
      }
    });
    if (!hasShares)
      return;
    for (int64_t i = 0; i < router.slots(); ++i)
      e.when(e.both(router.exists(i), there), [&] {
        Value at = e.plus(e.times(token, router.experts), router.places[i]);
        e.store(e.getF32Type(), e.div(router.scores[i], all), shares, at);
      });
  });
}

/// Expert numbers of choices, as i64.
Value chosenAt(GpuEmit &e, Value chosen, Value choice) { return e.widen(e.load(e.getI32Type(), chosen, choice)); }

/// A warp a choice: how many choices of its expert come before it.
Launch placeTokens(GpuEmit &e, GpuFrame &frame, nn::RouterOp op, const Scratch &parts) {
  RouterWarp router(e, frame, op);
  Value chosen = frame.scratch(e, parts.chosen), positions = frame.buffer(op.getPositions());
  Value slots = frame.result(op.getSlots()), places = frame.result(op.getTokens());
  int64_t top = router.top, capacity = op.getTokens().getType().getDimSize(2);
  Type i32 = e.getI32Type();
  return overWarps(e, router.batch * router.tokens * top, [&](Value choice, Value lane, Value there) {
    Value token = e.over(choice, top), b = e.over(token, router.tokens), base = e.times(b, router.tokens);
    Value t = e.modulo(token, router.tokens), expert = chosenAt(e, chosen, choice);
    Value own = e.load(i32, positions, token);
    Value count = e.loop(lane, e.i64(router.tokens), 32, e.number(0, i32), [&](Value u, ValueRange so) {
                     Value other = e.load(i32, positions, e.plus(base, u));
                     Value less = e.compare(arith::CmpIPredicate::slt, other, own);
                     Value same = e.both(e.compare(arith::CmpIPredicate::eq, other, own),
                                         e.compare(arith::CmpIPredicate::slt, u, t));
                     Value before = arith::OrIOp::create(e, less, same), match;
                     for (int64_t j = 0; j < top; ++j) {
                       Value its = chosenAt(e, chosen, e.plus(e.times(e.plus(base, u), top), j));
                       Value is = e.compare(arith::CmpIPredicate::eq, its, expert);
                       match = match ? Value(arith::OrIOp::create(e, match, is)) : is;
                     }
                     Value one = arith::ExtUIOp::create(e, i32, e.both(before, match));
                     return SmallVector<Value>{e.add(so.front(), one)};
                   }).front();
    count = e.widen(router.e.joinThreads({Reduction::Sum}, count, 32, lane).front());
    Value slot = e.plus(e.times(expert, capacity), count);
    Value fits = e.compare(arith::CmpIPredicate::slt, count, e.i64(capacity));
    e.when(isFirst(e, lane, there), [&] {
      if (slots)
        e.store(i32, arith::TruncIOp::create(e, i32, e.choose(fits, slot, e.i64(-1))), slots, choice);
      if (places)
        e.when(fits, [&] {
          Value at = e.plus(e.times(b, router.experts * capacity), slot);
          e.store(i32, arith::TruncIOp::create(e, i32, t), places, at);
        });
    });
  });
}

/// A warp an expert of a sequence: how many choose it, and with `hasShares` that times the sum of what they would give
/// it.
template <typename OpT> Launch countChoices(GpuEmit &e, GpuFrame &frame, OpT op, const Scratch &parts, bool hasShares) {
  RouterWarp router(e, frame, op);
  Value chosen = frame.scratch(e, parts.chosen), shares = frame.scratch(e, parts.shares), zero = router.real(0);
  return overWarps(e, router.batch * router.experts, [&](Value own, Value lane, Value there) {
    Value b = e.over(own, router.experts), expert = e.modulo(own, router.experts);
    int64_t choices = router.tokens * router.top;
    Value count = e.loop(lane, e.i64(choices), 32, zero, [&](Value i, ValueRange sum) {
                     Value its = chosenAt(e, chosen, e.plus(e.times(b, choices), i));
                     Value is = e.compare(arith::CmpIPredicate::eq, its, expert);
                     return SmallVector<Value>{e.add(sum.front(), e.choose(is, router.real(1), zero))};
                   }).front();
    count = router.joined(Reduction::Sum, count);
    Value share = zero;
    if (hasShares) {
      share = e.loop(lane, e.i64(router.tokens), 32, zero, [&](Value t, ValueRange sum) {
                 Value token = e.plus(e.times(b, router.tokens), t);
                 Value at = e.plus(e.times(token, router.experts), expert);
                 return SmallVector<Value>{e.add(sum.front(), e.load(e.getF32Type(), shares, at))};
               }).front();
      share = router.joined(Reduction::Sum, share);
    }
    e.when(isFirst(e, lane, there), [&] {
      e.store(e.getF32Type(), count, frame.scratch(e, parts.counts), own);
      if (hasShares)
        e.store(e.getF32Type(), e.mul(count, share), frame.scratch(e, parts.products), own);
    });
  });
}

/// A block a sequence: the load of its experts.
Launch sumLoad(GpuEmit &e, GpuFrame &frame, nn::RouterOp op, const Scratch &parts) {
  RouterWarp router(e, frame, op);
  int64_t threads = std::min<int64_t>(1024, llvm::alignTo(router.experts, 32));
  Launch launch;
  launch.block[0] = threads, launch.grid[0] = router.batch;
  Value b = e.block(router.batch), thread = e.thread(threads), products = frame.scratch(e, parts.products);
  Value sum = e.loop(thread, e.i64(router.experts), threads, router.real(0), [&](Value expert, ValueRange so) {
                 Value at = e.plus(e.times(b, router.experts), expert);
                 return SmallVector<Value>{e.add(so.front(), e.load(e.getF32Type(), products, at))};
               }).front();
  sum = e.joinThreads({Reduction::Sum}, sum, threads, thread).front();
  double factor = router.balance * static_cast<double>(router.experts) * router.partOfOne();
  e.when(e.compare(arith::CmpIPredicate::eq, thread, e.i64(0)),
         [&] { e.store(e.getF32Type(), e.mul(sum, router.real(factor)), frame.result(op.getLoad()), b); });
  return launch;
}

/// A warp a token: dlogits.
Launch gradient(GpuEmit &e, GpuFrame &frame, nn::RouterGradOp op, const Scratch &parts) {
  RouterWarp router(e, frame, op);
  Value dweights = frame.buffer(op.getDweights()), dlogits = frame.result(op.getDlogits());
  Value dload = op.getDload() ? frame.buffer(op.getDload()) : Value();
  return overWarps(e, router.batch * router.tokens, [&](Value token, Value lane, Value there) {
    Value row = e.times(token, router.experts), all = router.score(row, lane), zero = router.real(0);
    auto chosen = router.choose();
    RouterWarp::Values dscores(router.slots(), zero);
    if (dload) { // dload balance e (part - sum of share part) / all
      Value b = e.over(token, router.tokens), shared = zero;
      RouterWarp::Values part;
      for (int64_t i = 0; i < router.slots(); ++i) {
        Value at = e.plus(e.times(b, router.experts), e.choose(router.exists(i), router.places[i], e.i64(0)));
        Value count = e.load(e.getF32Type(), frame.scratch(e, parts.counts), at);
        part.push_back(e.mul(count, router.real(router.partOfOne())));
        shared = e.mulAdd(e.div(router.scores[i], all), part[i], shared); // beyond the experts the score is 0
      }
      shared = router.joined(Reduction::Sum, shared);
      Value factor =
          e.mul(e.load(e.getF32Type(), dload, b), router.real(router.balance * static_cast<double>(router.experts)));
      for (int64_t i = 0; i < router.slots(); ++i)
        dscores[i] = e.div(e.mul(e.sub(part[i], shared), factor), all);
    }
    RouterWarp::Values d, found;
    Value sum = zero, mean = zero;
    for (int64_t j = 0; j < router.top; ++j) {
      d.push_back(e.load(e.getF32Type(), dweights, e.plus(e.times(token, router.top), j)));
      if (router.normalized)
        found.push_back(router.ofExpert(router.scores, chosen[j])), sum = e.add(sum, found[j]);
    }
    for (int64_t j = 0; j < router.top && router.normalized; ++j)
      mean = e.add(mean, e.div(e.mul(d[j], found[j]), sum));
    for (int64_t j = 0; j < router.top; ++j) {
      Value own = router.normalized ? e.div(e.sub(d[j], mean), sum) : d[j];
      own = e.mul(own, router.real(router.scale));
      for (int64_t i = 0; i < router.slots(); ++i) {
        Value is = e.compare(arith::CmpIPredicate::eq, router.places[i], chosen[j]);
        dscores[i] = e.add(dscores[i], e.choose(is, own, zero));
      }
    }
    Value inner = zero;
    for (int64_t i = 0; i < router.slots() && !router.sigmoid; ++i)
      inner = e.mulAdd(router.scores[i], dscores[i], inner);
    if (!router.sigmoid)
      inner = router.joined(Reduction::Sum, inner);
    for (int64_t i = 0; i < router.slots(); ++i) {
      Value s = router.scores[i];
      Value value =
          router.sigmoid ? e.mul(e.mul(s, e.sub(router.real(1), s)), dscores[i]) : e.mul(s, e.sub(dscores[i], inner));
      e.when(e.both(router.exists(i), there),
             [&] { e.store(e.getF32Type(), value, dlogits, e.plus(row, router.places[i])); });
    }
  });
}
} // namespace

LogicalResult emitRouter(func::FuncOp kernel, nn::RouterOp op, ModuleOp into) {
  auto returned = [&](Value value) {
    return llvm::is_contained(kernel.getBody().front().getTerminator()->getOperands(), value);
  };
  bool load = returned(op.getLoad()), tokens = returned(op.getTokens());
  Scratch parts = scratchOf(op, load);
  StepKernel step(kernel, into, parts.bytes);
  if (tokens)
    step.add([&](GpuFrame &frame) { // places that no token gets
      int64_t count = op.getTokens().getType().getNumElements();
      GpuEmit e(frame, lanesOf({count}));
      return overThreads(e, count / e.lanes(), [&](Value index) {
        Value none = e.number(-1, e.vectorOf(e.getI32Type()));
        e.storeVector(e.getI32Type(), none, frame.result(op.getTokens()), e.times(index, e.lanes()), Value());
      });
    });
  step.add([&](GpuFrame &frame) {
    GpuEmit e(frame, 1);
    return chooseExperts(e, frame, op, parts, frame.result(op.getWeights()), load);
  });
  if (tokens || returned(op.getSlots()))
    step.add([&](GpuFrame &frame) {
      GpuEmit e(frame, 1);
      return placeTokens(e, frame, op, parts);
    });
  if (load) {
    step.add([&](GpuFrame &frame) {
      GpuEmit e(frame, 1);
      return countChoices(e, frame, op, parts, true);
    });
    step.add([&](GpuFrame &frame) {
      GpuEmit e(frame, 1);
      return sumLoad(e, frame, op, parts);
    });
  }
  step.finish();
  return success();
}

LogicalResult emitRouterGrad(func::FuncOp kernel, nn::RouterGradOp op, ModuleOp into) {
  bool load = static_cast<bool>(op.getDload());
  Scratch parts = scratchOf(op, false);
  StepKernel step(kernel, into, load ? parts.bytes : 0);
  if (load) {
    step.add([&](GpuFrame &frame) {
      GpuEmit e(frame, 1);
      return chooseExperts(e, frame, op, parts, Value(), false);
    });
    step.add([&](GpuFrame &frame) {
      GpuEmit e(frame, 1);
      return countChoices(e, frame, op, parts, false);
    });
  }
  step.add([&](GpuFrame &frame) {
    GpuEmit e(frame, 1);
    return gradient(e, frame, op, parts);
  });
  step.finish();
  return success();
}
} // namespace hocket::cuda
