// See TextPlaces.h.
#include "tools/hocket-lsp-server/TextPlaces.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace hocket::lsp;
using namespace mlir;

TextPlaces::TextPlaces(StringRef text) : whole(text), starts{0} {
  for (size_t at = text.find('\n'); at != StringRef::npos; at = text.find('\n', at + 1))
    starts.push_back(at + 1);
}

StringRef TextPlaces::line(size_t index) const {
  size_t end = index + 1 < starts.size() ? starts[index + 1] - 1 : whole.size();
  return whole.slice(starts[index], end);
}

/// Bytes of the character that a byte begins, and the UTF-16 units it takes.
static std::pair<size_t, int> character(unsigned char first) {
  return first < 0xc0   ? std::pair(1, 1)
         : first < 0xe0 ? std::pair(2, 1)
         : first < 0xf0 ? std::pair(3, 1)
                        : std::pair(4, 2);
}

size_t TextPlaces::offset(Position position) const {
  if (position.line < 0)
    return 0;
  if (size_t(position.line) >= starts.size())
    return whole.size();
  StringRef text = line(position.line);
  size_t byte = 0;
  for (int unit = 0; unit < position.character && byte < text.size();) {
    auto [bytes, units] = character(text[byte]);
    byte += bytes;
    unit += units;
  }
  return starts[position.line] + std::min(byte, text.size());
}

Position TextPlaces::position(size_t offset) const {
  offset = std::min(offset, whole.size());
  size_t index = llvm::upper_bound(starts, offset) - starts.begin() - 1;
  int unit = 0;
  for (size_t byte = starts[index]; byte < offset;) {
    auto [bytes, units] = character(whole[byte]);
    byte += bytes;
    unit += units;
  }
  return {int(index), unit};
}

Range TextPlaces::range(llvm::SMRange range) const {
  auto at = [&](llvm::SMLoc loc) {
    const char *p = loc.getPointer();
    return p >= whole.data() && p <= whole.data() + whole.size() ? position(p - whole.data()) : Position();
  };
  return range.isValid() ? Range(at(range.Start), at(range.End)) : Range();
}

Range TextPlaces::wordAt(unsigned lineNumber, unsigned column) const {
  if (lineNumber == 0 || lineNumber > starts.size())
    return {};
  size_t begin =
      std::min(starts[lineNumber - 1] + std::max(column, 1u) - 1, starts[lineNumber - 1] + line(lineNumber - 1).size());
  size_t end = begin;
  if (begin < whole.size()) {
    llvm::SMRange word = AsmParserState::convertIdLocToRange(llvm::SMLoc::getFromPointer(whole.data() + begin));
    end = std::min<size_t>(word.End.getPointer() - whole.data(), starts[lineNumber - 1] + line(lineNumber - 1).size());
    end = std::max(end, std::min(begin + character(whole[begin]).first, whole.size()));
  }
  return {position(begin), position(end)};
}

FileLineColLoc hocket::lsp::fileOf(Location loc) {
  return llvm::TypeSwitch<LocationAttr, FileLineColLoc>(loc)
      .Case([](FileLineColLoc file) { return file; })
      .Case([](NameLoc name) { return fileOf(name.getChildLoc()); })
      .Case([](CallSiteLoc call) {
        FileLineColLoc callee = fileOf(call.getCallee());
        return callee ? callee : fileOf(call.getCaller());
      })
      .Case([](FusedLoc fused) {
        for (Location part : fused.getLocations())
          if (FileLineColLoc file = fileOf(part))
            return file;
        return FileLineColLoc();
      })
      .Default([](LocationAttr) { return FileLineColLoc(); });
}
