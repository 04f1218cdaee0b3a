// See Server.h.
#include "tools/hocket-lsp-server/Server.h"
#include "tools/hocket-lsp-server/Checker.h"
#include "tools/hocket-lsp-server/Completion.h"
#include "tools/hocket-lsp-server/Hover.h"
#include "tools/hocket-lsp-server/Navigation.h"
using namespace hocket::lsp;
using namespace llvm::lsp;
using llvm::StringRef;

namespace {
/// Larger texts are not read: what the compiler prints of a large model is for other tools.
constexpr size_t largestText = 32 << 20;

struct OpenFile {
  std::string text;
  std::string sound; ///< the text as it last parsed
  std::unique_ptr<Document> document;
  CheckedPtr checked; ///< of this version, when it is there
};

class Server {
public:
  Server(JSONTransport &transport, bool beside)
      : messages(transport),
        publish(messages.outgoingNotification<PublishDiagnosticsParams>("textDocument/publishDiagnostics")),
        checker([this](auto &uri, int64_t version, auto checked) { onChecked(uri, version, std::move(checked)); },
                beside),
        beside(beside) {
    messages.method("initialize", this, &Server::onInitialize);
    messages.notification("initialized", this, &Server::onInitialized);
    messages.method("shutdown", this, &Server::onShutdown);
    messages.notification("textDocument/didOpen", this, &Server::onOpen);
    messages.notification("textDocument/didChange", this, &Server::onChange);
    messages.notification("textDocument/didClose", this, &Server::onClose);
    messages.method("textDocument/hover", this, &Server::onHover);
    messages.method("textDocument/definition", this, &Server::onDefinition);
    messages.method("textDocument/references", this, &Server::onReferences);
    messages.method("textDocument/completion", this, &Server::onCompletion);
    messages.method("textDocument/documentSymbol", this, &Server::onOutline);
  }
  MessageHandler &handler() { return messages; }
  bool wasShutDown() const { return shutDown; }

private:
  void onInitialize(const InitializeParams &, Callback<llvm::json::Value> reply) {
    reply(llvm::json::Object{
        {"serverInfo", llvm::json::Object{{"name", "hocket-lsp-server"}}},
        {"capabilities",
         llvm::json::Object{
             {"textDocumentSync", llvm::json::Object{{"openClose", true}, {"change", int(TextDocumentSyncKind::Full)}}},
             {"hoverProvider", true},
             {"definitionProvider", true},
             {"referencesProvider", true},
             {"documentSymbolProvider", true},
             {"completionProvider", llvm::json::Object{{"triggerCharacters", llvm::json::Array{".", "%", "@", "\""}}}},
         }}});
  }
  void onInitialized(const InitializedParams &) {}
  void onShutdown(const NoParams &, Callback<std::nullptr_t> reply) {
    shutDown = true;
    reply(nullptr);
  }

  void onOpen(const DidOpenTextDocumentParams &params) {
    update(params.textDocument.uri, params.textDocument.text, params.textDocument.version);
  }
  void onChange(const DidChangeTextDocumentParams &params) {
    std::string text;
    {
      std::lock_guard<std::mutex> lock(mutex);
      auto it = files.find(params.textDocument.uri.uri().str());
      if (it == files.end())
        return;
      text = it->second.text;
    }
    if (succeeded(TextDocumentContentChangeEvent::applyTo(params.contentChanges, text)))
      update(params.textDocument.uri, std::move(text), params.textDocument.version);
  }
  void onClose(const DidCloseTextDocumentParams &params) {
    checker.forget(params.textDocument.uri);
    {
      std::lock_guard<std::mutex> lock(mutex);
      files.erase(params.textDocument.uri.uri().str());
    }
    publish(PublishDiagnosticsParams(params.textDocument.uri, 0)); // squiggles of a closed file go
  }

  /// What is known at once is sent at once; the rest follows when the plans are checked.
  void update(const URIForFile &uri, std::string text, int64_t version) {
    PublishDiagnosticsParams first(uri, version);
    bool large = text.size() > largestText, complete = large;
    {
      std::lock_guard<std::mutex> lock(mutex);
      OpenFile &file = files[uri.uri().str()];
      file.text = text;
      file.checked = nullptr;
      file.document = large ? nullptr : std::make_unique<Document>(uri, text, version);
      if (large)
        first.diagnostics = {tooLarge(text.size())};
      else
        first.diagnostics = file.document->diagnostics();
      if (!large && file.document->parsed())
        file.sound = text;
      else
        complete = true;
    }
    if (beside || complete)
      publish(first);
    if (complete)
      checker.forget(uri);
    else
      checker.check(uri, std::move(text), version);
  }
  static Diagnostic tooLarge(size_t bytes) {
    Diagnostic made;
    made.range = Range(Position(0, 0), Position(0, 1));
    made.severity = DiagnosticSeverity::Information;
    made.source = "hocket";
    made.message = llvm::formatv("a text of {0} bytes is not read while editing; the most is {1}", bytes, largestText);
    return made;
  }
  void onChecked(const URIForFile &uri, int64_t version, CheckedPtr checked) {
    PublishDiagnosticsParams params(uri, version);
    params.diagnostics = checked->diagnostics;
    {
      std::lock_guard<std::mutex> lock(mutex);
      auto it = files.find(uri.uri().str());
      if (it == files.end() || !it->second.document || it->second.document->version != version)
        return;
      it->second.checked = checked;
    }
    if (checked->complete)
      publish(params);
  }

  /// Answers from the document, or with what an empty one gives.
  template <typename T, typename Answer> void answer(const URIForFile &uri, Callback<T> reply, Answer from) {
    std::lock_guard<std::mutex> lock(mutex);
    auto it = files.find(uri.uri().str());
    if (it == files.end() || !it->second.document)
      return reply(T());
    reply(from(it->second));
  }
  void onHover(const TextDocumentPositionParams &params, Callback<std::optional<Hover>> reply) {
    answer(params.textDocument.uri, std::move(reply),
           [&](OpenFile &file) { return hoverAt(*file.document, params.position, file.checked.get()); });
  }
  void onDefinition(const TextDocumentPositionParams &params, Callback<std::vector<Location>> reply) {
    answer(params.textDocument.uri, std::move(reply),
           [&](OpenFile &file) { return definitionsAt(*file.document, params.position); });
  }
  void onReferences(const ReferenceParams &params, Callback<std::vector<Location>> reply) {
    answer(params.textDocument.uri, std::move(reply),
           [&](OpenFile &file) { return referencesAt(*file.document, params.position); });
  }
  void onCompletion(const CompletionParams &params, Callback<CompletionList> reply) {
    answer(params.textDocument.uri, std::move(reply), [&](OpenFile &file) {
      return completionsAt(file.text, params.textDocument.uri.file(), params.position, file.sound);
    });
  }
  void onOutline(const DocumentSymbolParams &params, Callback<std::vector<DocumentSymbol>> reply) {
    answer(params.textDocument.uri, std::move(reply), [&](OpenFile &file) { return outlineOf(*file.document); });
  }

  MessageHandler messages;
  OutgoingNotification<PublishDiagnosticsParams> publish;
  std::mutex mutex; ///< of files
  std::map<std::string, OpenFile> files;
  bool shutDown = false;
  Checker checker; ///< ends before the files do
  bool beside;
};
} // namespace

int hocket::lsp::serve(JSONTransport &transport, bool beside) {
  URIForFile::registerSupportedScheme("untitled"); // a file that is not saved yet
  Server server(transport, beside);
  if (llvm::Error error = transport.run(server.handler())) {
    Logger::error("the conversation broke off: {0}", llvm::toString(std::move(error)));
    return 1;
  }
  return server.wasShutDown() ? 0 : 1;
}
