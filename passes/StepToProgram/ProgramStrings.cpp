// See ProgramStrings.h.
#include "passes/StepToProgram/ProgramStrings.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;
using namespace hocket::step;

uint32_t ProgramStrings::add(StringRef text) {
  auto [it, fresh] = index.try_emplace(text, list.size());
  if (fresh)
    list.push_back(text.str());
  return it->second;
}

std::string hocket::step::sourceOf(Location loc) {
  return llvm::TypeSwitch<LocationAttr, std::string>(loc)
      .Case([](FileLineColLoc file) {
        return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn())).str();
      })
      .Case([](NameLoc name) { return sourceOf(name.getChildLoc()); })
      .Case([](CallSiteLoc call) {
        std::string callee = sourceOf(call.getCallee());
        return callee.empty() ? sourceOf(call.getCaller()) : callee;
      })
      .Case([](FusedLoc fused) {
        for (Location part : fused.getLocations())
          if (std::string text = sourceOf(part); !text.empty())
            return text;
        return std::string();
      })
      .Default([](LocationAttr) { return std::string(); });
}
