// See Document.h.
#include "tools/hocket-lsp-server/Document.h"
using namespace hocket::lsp;
using namespace mlir;

Document::Document(const llvm::lsp::URIForFile &uri, StringRef text, int64_t version) : uri(uri), version(version) {
  isParsed = session.loadText(text, uri.file().str(), &parserState);
  textPlaces = std::make_unique<TextPlaces>(session.text());
  if (isParsed)
    session.verify();
}

static bool contains(llvm::SMRange range, const char *at) {
  return range.isValid() && range.Start.getPointer() <= at && at <= range.End.getPointer();
}

std::optional<Document::Thing> Document::thingAt(Position position) const {
  if (!isParsed)
    return std::nullopt;
  const char *at = places().pointer(position);
  auto inDefinition = [&](const Definition &definition) -> std::optional<llvm::SMRange> {
    if (contains(definition.loc, at))
      return definition.loc;
    for (llvm::SMRange use : definition.uses)
      if (contains(use, at))
        return use;
    return std::nullopt;
  };
  for (const OpDef &op : parserState.getOpDefs()) {
    if (contains(op.loc, at))
      return Thing{&op, {}, nullptr, op.loc, nullptr};
    for (llvm::SMRange use : op.symbolUses)
      if (contains(use, at))
        return Thing{&op, {}, nullptr, use, nullptr};
    for (const auto &group : op.resultGroups)
      if (auto range = inDefinition(group.definition); range && group.startIndex < op.op->getNumResults())
        return Thing{&op, op.op->getResult(group.startIndex), &group.definition, *range, opAround(position)};
  }
  for (const auto &block : parserState.getBlockDefs())
    for (auto [index, argument] : llvm::enumerate(block.arguments))
      if (auto range = inDefinition(argument); range && index < block.block->getNumArguments())
        return Thing{nullptr, block.block->getArgument(index), &argument, *range, opAround(position)};
  return std::nullopt;
}

const Document::OpDef *Document::opAround(Position position) const {
  if (!isParsed)
    return nullptr;
  const char *at = places().pointer(position);
  const OpDef *best = nullptr;
  for (const OpDef &op : parserState.getOpDefs())
    if (contains(op.scopeLoc, at) && (!best || best->scopeLoc.Start.getPointer() <= op.scopeLoc.Start.getPointer()))
      best = &op;
  return best;
}

std::optional<std::pair<StringRef, llvm::SMRange>> Document::quotedAt(Position position) const {
  size_t at = places().offset(position);
  size_t begin = text().rfind('\n', at ? at - 1 : 0);
  begin = begin == StringRef::npos || begin >= at ? 0 : begin + 1;
  StringRef line = text().slice(begin, std::min(text().find('\n', at), text().size()));
  for (size_t open = line.find('"'); open != StringRef::npos;) {
    size_t close = line.find('"', open + 1);
    if (close == StringRef::npos || begin + open > at)
      return std::nullopt;
    if (begin + open <= at && at <= begin + close) {
      const char *first = text().data() + begin + open;
      return std::pair(line.slice(open + 1, close), llvm::SMRange(llvm::SMLoc::getFromPointer(first + 1),
                                                                  llvm::SMLoc::getFromPointer(first + close - open)));
    }
    open = line.find('"', close + 1);
  }
  return std::nullopt;
}
