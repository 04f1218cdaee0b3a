// Copies ops of the training step into one body of one stage: reads become loads, writes stores, dist ops flat
// collectives.
#pragma once
#include "mlir/IR/IRMapping.h"
#include "passes/DistToStep/StageProgram.h"

namespace hocket::step {

class BodyEmitter {
public:
  BodyEmitter(StageProgram &program, mlir::OpBuilder &builder) : program(program), builder(builder) {}

  /// Emits one op. A result that another body or a message needs is stored.
  void emit(mlir::Operation *op);
  /// The value in this body: made here, made again (what is free), or loaded from where another body left it.
  mlir::Value get(mlir::Value value);
  void set(mlir::Value value, mlir::Value here) { map.map(value, here); }

private:
  StageProgram &program;
  mlir::OpBuilder &builder;
  mlir::IRMapping map;
};
} // namespace hocket::step
