// One step.program as the rank program of its stage.
#pragma once
#include "passes/StepToProgram/Communicators.h"
#include "passes/StepToProgram/ProgramStrings.h"
#include "passes/StepToProgram/WrittenValues.h"
#include <map>

namespace hocket::step {

/// The stages that hold a state buffer, by kind and name, in order.
using StateHolders = std::map<std::pair<nn::SlotKind, llvm::StringRef>, std::vector<uint32_t>>;
StateHolders findStateHolders(llvm::ArrayRef<ProgramOp> programs);

/// What all stages share while the file is written.
struct SharedTables {
  ProgramStrings &strings;
  const Communicators &communicators;
  StateHolders holders;
  nn::ModelOp model;
  WrittenValues &written;
  llvm::StringMap<uint32_t> kernels;         ///< symbol -> index
  std::vector<program::RankScalarT> scalars; ///< each once
  bool gpu = false;                          ///< the target is "cuda"
  uint32_t scalar(RankScalarOp op);
};

/// Null (and an error) if a schedule names what the program lacks.
std::unique_ptr<program::RankProgramT> convertProgram(ProgramOp program, SharedTables &shared);
program::DType convertType(mlir::Type type);
} // namespace hocket::step
