// Types of what lives in a step and no longer: accumulators, and copies of parameters to compute with.
#include "dialect/Step/Step.h"
#include "tools/hocket/Report.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;
using namespace hocket;

/// The parameter of a buffer: its name without what its kind and its use of the parameter add (wte.use1.acc is of wte).
static std::string parameterOf(step::BufferOp buffer, ShapedType type) {
  StringRef name = buffer.getName();
  name.consume_back(step::slotSuffix(*buffer.getSlot(), type.getRank()));
  auto [param, use] = name.rsplit(".use");
  bool numbered = !use.empty() && llvm::all_of(use, [](char c) { return llvm::isDigit(c); });
  return (numbered ? param : name).str();
}

void hocket::tools::addTypesFrom(ModuleOp module, Report &report) {
  for (auto program : module.getOps<step::ProgramOp>()) {
    std::map<std::string, HoldingReport *> byName;
    for (RankReport &rank : report.ranks)
      if (rank.stage == program.getStage())
        for (HoldingReport &holding : rank.holdings)
          byName[holding.name] = &holding;
    for (auto buffer : program.ops<step::BufferOp>()) {
      if (buffer.getSlot() != nn::SlotKind::Accumulator && buffer.getSlot() != nn::SlotKind::Value)
        continue;
      auto type = cast<ShapedType>(buffer.getBuffer().getType());
      auto found = byName.find(parameterOf(buffer, type));
      if (found == byName.end())
        continue;
      std::string text;
      llvm::raw_string_ostream(text) << type.getElementType();
      (buffer.getSlot() == nn::SlotKind::Value ? found->second->compute : found->second->accumulators) = text;
    }
  }
}
