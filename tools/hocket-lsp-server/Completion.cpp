// See Completion.h.
#include "tools/hocket-lsp-server/Completion.h"
#include "dialect/Dist/Dist.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/AsmParser/CodeComplete.h"
#include "mlir/IR/Diagnostics.h"
#include "tools/Dialects.h"
#include "tools/hocket-lsp-server/OpDocs.h"
#include "tools/hocket-lsp-server/ParameterNames.h"
#include "tools/hocket/AlikeLines.h"
#include "tools/hocket/Session.h"
#include "llvm/ADT/StringExtras.h"
#include <set>
using namespace hocket;
using namespace hocket::lsp;
using namespace mlir;
using Kind = llvm::lsp::CompletionItemKind;

namespace {
/// Receives what the parser would accept where it meets the place.
class Context : public AsmParserCodeCompleteContext {
public:
  Context(llvm::SMLoc at, llvm::lsp::CompletionList &list, MLIRContext &mlir)
      : AsmParserCodeCompleteContext(at), list(list), mlir(mlir) {}

  void completeDialectName(StringRef prefix) final {
    for (StringRef name : {"nn", "dist", "step"})
      add((prefix + name).str(), Kind::Module, "dialect", "2");
  }
  using AsmParserCodeCompleteContext::completeDialectName;
  void completeOperationName(StringRef dialect) final {
    for (RegisteredOperationName op : mlir.getRegisteredOperations())
      if (op.getDialectNamespace() == dialect && dialect != "builtin") {
        llvm::lsp::CompletionItem &item = add(op.stripDialect().str(), Kind::Function, "", "1");
        std::string doc = opDoc(op.getStringRef().str());
        item.detail = StringRef(doc).split('\n').first.trim("_").str();
        item.documentation = llvm::lsp::MarkupContent{llvm::lsp::MarkupKind::Markdown, doc};
      }
  }
  void appendSSAValueCompletion(StringRef name, std::string type) final {
    add(name.str(), Kind::Variable, type, "0"); // with its %
  }
  void appendBlockCompletion(StringRef name) final { add("^" + name.str(), Kind::Field, "", "0"); }
  void completeExpectedTokens(ArrayRef<StringRef> tokens, bool) final {
    for (StringRef token : tokens)
      add(token.str(), Kind::Keyword, "", "0");
  }
  void completeAttribute(const llvm::StringMap<Attribute> &aliases) final {
    completeDialectAttributeOrAlias(aliases);
    for (StringRef word : {"true", "false", "unit", "dense"})
      add(word.str(), Kind::Keyword, "", "3");
  }
  void completeDialectAttributeOrAlias(const llvm::StringMap<Attribute> &aliases) final {
    for (const auto &alias : aliases)
      add("#" + alias.getKey().str(), Kind::Value, "", "1");
  }
  void completeType(const llvm::StringMap<Type> &aliases) final {
    for (StringRef type : {"tensor", "f32", "bf16", "f16", "f64", "i32", "i64", "index"})
      add(type.str(), Kind::Field, "type", "1");
    completeDialectTypeOrAlias(aliases);
  }
  void completeDialectTypeOrAlias(const llvm::StringMap<Type> &aliases) final {
    for (const auto &alias : aliases)
      add("!" + alias.getKey().str(), Kind::Field, "", "1");
  }

private:
  llvm::lsp::CompletionItem &add(std::string label, Kind kind, std::string detail, StringRef order) {
    llvm::lsp::CompletionItem &item = list.items.emplace_back(label, kind, order.str() + label);
    item.detail = std::move(detail);
    return item;
  }
  llvm::lsp::CompletionList &list;
  MLIRContext &mlir;
};

/// The line up to a place.
StringRef lineBefore(const TextPlaces &places, Position position) {
  StringRef before = places.text().take_front(places.offset(position));
  size_t start = before.rfind('\n');
  return start == StringRef::npos ? before : before.drop_front(start + 1);
}

/// Names between quotes: after `over` axes, else parameters, layers as `*`.
void completeQuoted(StringRef line, StringRef sound, llvm::lsp::CompletionList &list) {
  tools::Session session(tools::Session::Printing::None);
  if (sound.empty() || !session.loadText(sound, "sound"))
    return;
  std::set<std::string> names;
  bool axes = line.contains(" over ");
  if (axes)
    for (auto mesh : session.module().getOps<dist::MeshOp>())
      for (auto axis : mesh.getAxes().getAsRange<dist::MeshAxisAttr>())
        names.insert(axis.getName().str());
  else
    for (auto model : session.module().getOps<nn::ModelOp>())
      for (const ParameterName &each : parameterNames(model))
        names.insert(tools::withoutLayer(each.name).first);
  for (const std::string &name : names) {
    list.items.emplace_back(name, axes ? Kind::EnumMember : Kind::Field, name);
    list.items.back().detail = axes ? "axis" : "parameter";
  }
}
} // namespace

llvm::lsp::CompletionList hocket::lsp::completionsAt(StringRef text, StringRef name, Position position,
                                                     StringRef sound) {
  llvm::lsp::CompletionList list;
  TextPlaces places(text);
  StringRef line = lineBefore(places, position);
  StringRef code = line.split("//").first;
  if (code.size() != line.size())
    return list; // in a comment
  if (code.count('"') % 2 == 1) {
    completeQuoted(line, sound, list);
    return list;
  }
  if (tools::nestedTooDeep(text))
    return list;
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name), llvm::SMLoc());
  const char *begin = sources.getMemoryBuffer(1)->getBufferStart();
  size_t at = places.offset(position);
  // The word that is being written is taken back: the parser completes where a token begins.
  while (at > 0 && (llvm::isAlnum(text[at - 1]) || StringRef("_$%").contains(text[at - 1])))
    --at;
  Context complete(llvm::SMLoc::getFromPointer(begin + at), list, context);
  Block block;
  AsmParserState state;
  (void)parseAsmSourceFile(sources, &block, ParserConfig(&context, /*verifyAfterParse=*/false), &state, &complete);
  return list;
}
