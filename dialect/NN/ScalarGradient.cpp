// Reverse mode over scalar bodies.
#include "dialect/NN/ScalarGradient.h"
#include "dialect/NN/ShapeCheck.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numbers>
using namespace mlir;

namespace hocket::nn {
namespace {
/// Scalar arithmetic that leaves out factors of 1 and terms of 0, and folds what is constant.
struct Scalars {
  OpBuilder &builder;
  Location loc;

  static std::optional<double> constantOf(Value value) {
    FloatAttr attribute;
    if (matchPattern(value, m_Constant(&attribute)))
      return attribute.getValueAsDouble();
    return std::nullopt;
  }
  Value constant(Type type, double value) {
    return arith::ConstantOp::create(builder, loc, FloatAttr::get(type, value));
  }
  Value add(Value a, Value b) {
    if (constantOf(a) == 0.0)
      return b;
    return constantOf(b) == 0.0 ? a : arith::AddFOp::create(builder, loc, a, b).getResult();
  }
  Value sub(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
  Value negate(Value a) {
    if (auto negated = a.getDefiningOp<arith::NegFOp>())
      return negated.getOperand();
    return arith::NegFOp::create(builder, loc, a);
  }
  Value mul(Value a, Value b) {
    if (constantOf(a) == 1.0)
      return b;
    if (constantOf(b) == 1.0)
      return a;
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value scale(Value a, double by) { return mul(a, constant(a.getType(), by)); }
  Value div(Value a, Value b) {
    return constantOf(b) == 1.0 ? a : arith::DivFOp::create(builder, loc, a, b).getResult();
  }
  Value select(Value condition, Value a, Value b) { return arith::SelectOp::create(builder, loc, condition, a, b); }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value zero(Value like) { return constant(like.getType(), 0); }
};

/// The reverse sweep over one block: adjoints of values, from the returned ones back to the arguments.
class ReverseSweep {
public:
  ReverseSweep(OpBuilder &builder, Location loc) : s{builder, loc} {}
  void addTo(Value value, Value adjoint) {
    Value &entry = adjoints[value];
    entry = entry ? s.add(entry, adjoint) : adjoint;
  }
  Value adjointOf(Value value) const { return adjoints.lookup(value); }
  /// `ops` in order of execution; `active`: values that depend on an operand whose gradient is asked for.
  void run(ArrayRef<Operation *> ops, const llvm::DenseSet<Value> &active);

private:
  void visitArith(Operation *op, Value g);
  void visitMath(Operation *op, Value g);
  void visitPower(math::PowFOp op, Value g);
  /// Gives `adjoint()` to `value` if that is active.
  template <typename Fn> void give(Value value, Fn adjoint) {
    if (active->contains(value))
      addTo(value, adjoint());
  }

  Scalars s;
  DenseMap<Value, Value> adjoints;
  const llvm::DenseSet<Value> *active = nullptr;
};

void ReverseSweep::run(ArrayRef<Operation *> ops, const llvm::DenseSet<Value> &activeValues) {
  active = &activeValues;
  for (Operation *op : llvm::reverse(ops)) {
    Value g = op->getNumResults() == 1 ? adjointOf(op->getResult(0)) : Value();
    if (!g || !active->contains(op->getResult(0)))
      continue;
    if (isa<math::MathDialect>(op->getDialect()))
      visitMath(op, g);
    else
      visitArith(op, g);
  }
}

void ReverseSweep::visitArith(Operation *op, Value g) {
  auto operand = [&](unsigned i) { return op->getOperand(i); };
  /// The first operand gets g where it compares so with the second, the second gets the rest.
  auto choose = [&](arith::CmpFPredicate predicate) {
    Value first = s.compare(predicate, operand(0), operand(1));
    give(operand(0), [&] { return s.select(first, g, s.zero(g)); });
    give(operand(1), [&] { return s.select(first, s.zero(g), g); });
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](arith::AddFOp) {
        give(operand(0), [&] { return g; });
        give(operand(1), [&] { return g; });
      })
      .Case([&](arith::SubFOp) {
        give(operand(0), [&] { return g; });
        give(operand(1), [&] { return s.negate(g); });
      })
      .Case([&](arith::MulFOp) {
        give(operand(0), [&] { return s.mul(g, operand(1)); });
        give(operand(1), [&] { return s.mul(g, operand(0)); });
      })
      .Case([&](arith::DivFOp) {
        Value quotient = s.div(g, operand(1));
        give(operand(0), [&] { return quotient; });
        give(operand(1), [&] { return s.negate(s.mul(quotient, op->getResult(0))); });
      })
      .Case([&](arith::NegFOp) { give(operand(0), [&] { return s.negate(g); }); })
      .Case([&](arith::MaximumFOp) { choose(arith::CmpFPredicate::OGT); })
      .Case([&](arith::MinimumFOp) { choose(arith::CmpFPredicate::OLT); })
      .Case([&](arith::SelectOp) {
        give(operand(1), [&] { return s.select(operand(0), g, s.zero(g)); });
        give(operand(2), [&] { return s.select(operand(0), s.zero(g), g); });
      })
      .Case([&](arith::ExtFOp) {
        give(operand(0),
             [&] { return arith::TruncFOp::create(s.builder, s.loc, operand(0).getType(), g).getResult(); });
      })
      .Case([&](arith::TruncFOp) {
        give(operand(0), [&] { return arith::ExtFOp::create(s.builder, s.loc, operand(0).getType(), g).getResult(); });
      });
}

void ReverseSweep::visitMath(Operation *op, Value g) {
  Value x = op->getOperand(0), y = op->getResult(0);
  if (auto power = dyn_cast<math::PowFOp>(op))
    return visitPower(power, g);
  give(x, [&]() -> Value {
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case([&](math::ExpOp) { return s.mul(g, y); })
        .Case([&](math::LogOp) { return s.div(g, x); })
        .Case([&](math::TanhOp) { return s.mul(g, s.sub(s.constant(x.getType(), 1), s.mul(y, y))); })
        .Case([&](math::SqrtOp) { return s.div(s.scale(g, 0.5), y); })
        .Case([&](math::RsqrtOp) { return s.mul(s.scale(g, -0.5), s.mul(y, s.mul(y, y))); })
        .Case([&](math::SinOp) { return s.mul(g, math::CosOp::create(s.builder, s.loc, x)); })
        .Case([&](math::CosOp) { return s.negate(s.mul(g, math::SinOp::create(s.builder, s.loc, x))); })
        .Case([&](math::ErfOp) {
          Value bell = math::ExpOp::create(s.builder, s.loc, s.negate(s.mul(x, x)));
          return s.mul(s.scale(g, 2 * std::numbers::inv_sqrtpi), bell);
        })
        .Case([&](math::AbsFOp) {
          Value zero = s.zero(x);
          Value below = s.select(s.compare(arith::CmpFPredicate::OLT, x, zero), s.negate(g), zero);
          return s.select(s.compare(arith::CmpFPredicate::OGT, x, zero), g, below);
        });
  });
}

void ReverseSweep::visitPower(math::PowFOp op, Value g) {
  Value base = op.getLhs(), exponent = op.getRhs();
  give(base, [&] {
    Value down = s.mul(g, exponent);
    std::optional<double> known = Scalars::constantOf(exponent);
    if (known == 1.0)
      return down;
    if (known == 2.0)
      return s.mul(down, base);
    Value less = known ? s.constant(base.getType(), *known - 1) : s.sub(exponent, s.constant(base.getType(), 1));
    return s.mul(down, math::PowFOp::create(s.builder, s.loc, base, less));
  });
  give(exponent, [&] { return s.mul(s.mul(g, op.getResult()), math::LogOp::create(s.builder, s.loc, base)); });
}

/// Merges equal scalars and erases unused ones, all of one block (quadratic in its length; bodies are short).
void simplify(Block &block) {
  SmallVector<Operation *> kept;
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    auto equal = llvm::find_if(kept, [&](Operation *each) {
      return OperationEquivalence::isEquivalentTo(each, &op, OperationEquivalence::IgnoreLocations);
    });
    if (equal == kept.end()) {
      kept.push_back(&op);
      continue;
    }
    op.replaceAllUsesWith(*equal);
    op.erase();
  }
  for (Operation *op : llvm::reverse(kept))
    if (op->use_empty())
      op->erase();
}

/// Leaves out the inputs that the body does not use, but for one.
void dropUnusedInputs(ElementwiseOp op) {
  Block &block = op.getBody().front();
  for (unsigned i = block.getNumArguments(); i-- > 0;)
    if (block.getArgument(i).use_empty() && block.getNumArguments() > 1) {
      block.eraseArgument(i);
      op->eraseOperand(i);
    }
}

RankedTensorType withElement(RankedTensorType shape, Type element) {
  return RankedTensorType::get(shape.getShape(), element);
}
} // namespace

ElementwiseOp buildElementwise(OpBuilder &builder, Location loc, StringRef name, TypeRange types, ValueRange inputs,
                               ScalarBodyBuilder body) {
  auto op = make<ElementwiseOp>(builder, loc, types, inputs, builder.getStringAttr(name));
  Block &block = op.getBody().emplaceBlock();
  for (Value input : inputs)
    block.addArgument(scalarType(tensorType(input).getElementType()), loc);
  OpBuilder inner = OpBuilder::atBlockEnd(&block);
  SmallVector<Value> values = body(inner, block.getArguments());
  ReturnOp::create(inner, loc, values);
  simplify(block);
  dropUnusedInputs(op);
  return op;
}

/// The body of the gradient: the forward body again, then its reverse sweep. Returns one adjoint for each index of
/// `wanted`.
static SmallVector<Value> reverseBody(ScalarOpInterface op, OpBuilder &builder, ValueRange resultGrads, ValueRange args,
                                      ArrayRef<unsigned> wanted) {
  Location loc = op->getLoc();
  Block *block = builder.getInsertionBlock();
  SmallVector<Value> forward = op.buildScalarBody(builder, args);
  SmallVector<Operation *> ops;
  llvm::DenseSet<Value> active;
  for (unsigned i : wanted)
    active.insert(args[i]);
  for (Operation &each : *block) {
    ops.push_back(&each);
    for (Value result : each.getResults())
      if (isa<FloatType>(result.getType()) &&
          llvm::any_of(each.getOperands(), [&](Value operand) { return active.contains(operand); }))
        active.insert(result);
  }
  ReverseSweep sweep(builder, loc);
  for (auto [value, grad] : llvm::zip(forward, resultGrads))
    if (grad && active.contains(value))
      sweep.addTo(value, grad);
  sweep.run(ops, active);
  SmallVector<Value> adjoints;
  for (unsigned i : wanted) {
    Value adjoint = sweep.adjointOf(args[i]);
    adjoints.push_back(adjoint ? adjoint : Scalars{builder, loc}.constant(args[i].getType(), 0));
  }
  return adjoints;
}

void buildScalarGradient(Operation *op, StringRef name, OpBuilder &builder, ValueRange resultGrads,
                         const BitVector &needed, MutableArrayRef<Value> operandGrads) {
  SmallVector<Value> inputs; // gradients of results, then the operands
  SmallVector<unsigned> wanted;
  SmallVector<Type> types;
  auto shape = cast<RankedTensorType>(op->getResult(0).getType());
  for (Value grad : resultGrads)
    if (grad)
      inputs.push_back(grad);
  size_t gradCount = inputs.size();
  llvm::append_range(inputs, op->getOperands());
  for (unsigned i : needed.set_bits())
    if (Type element = tensorType(op->getOperand(i)).getElementType(); isa<FloatType>(element)) {
      wanted.push_back(i);
      types.push_back(withElement(shape, element));
    }
  if (gradCount == 0 || wanted.empty())
    return;
  auto grads = buildElementwise(
      builder, op->getLoc(), (name + "_grad").str(), types, inputs, [&](OpBuilder &inner, ValueRange args) {
        SmallVector<Value> scalarGrads;
        size_t next = 0;
        for (Value grad : resultGrads)
          scalarGrads.push_back(grad ? args[next++] : Value());
        return reverseBody(cast<ScalarOpInterface>(op), inner, scalarGrads, args.drop_front(gradCount), wanted);
      });
  for (auto [i, grad] : llvm::zip(wanted, grads.getYs()))
    operandGrads[i] = buildSumTo(builder, op->getLoc(), grad, tensorType(op->getOperand(i)));
}

Value buildZeros(OpBuilder &builder, Location loc, Value like) {
  auto body = [&](OpBuilder &inner, ValueRange args) -> SmallVector<Value> {
    return {Scalars{inner, loc}.constant(args[0].getType(), 0)};
  };
  return buildElementwise(builder, loc, "zeros", like.getType(), like, body).getResult(0);
}

Value buildBroadcast(OpBuilder &builder, Location loc, Value x, RankedTensorType type) {
  if (tensorType(x).getRank() == type.getRank())
    return x;
  auto body = [](OpBuilder &, ValueRange args) -> SmallVector<Value> { return {args[0]}; };
  return buildElementwise(builder, loc, "broadcast", type, x, body).getResult(0);
}

Value buildSumTo(OpBuilder &builder, Location loc, Value x, RankedTensorType type) {
  if (tensorType(x).getRank() == type.getRank())
    return x;
  return make<SumOp>(builder, loc, type, x);
}
} // namespace hocket::nn
