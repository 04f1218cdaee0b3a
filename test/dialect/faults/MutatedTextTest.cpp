// Parsers and verifiers take any text without a crash: pieces of the corpus, with tokens dropped, doubled, exchanged
// and replaced. The same draws every time.
#include "test/dialect/faults/Corpus.h"
#include <gtest/gtest.h>
using namespace mlir;
using namespace hocket::testing;

namespace {
std::vector<std::string> tokensOf(const std::string &text) {
  std::vector<std::string> tokens;
  auto word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '%' || c == '@';
  };
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (word(text[at]))
      while (end < text.size() && word(text[end]))
        ++end;
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

const char *const odd[] = {"-1",
                           "0",
                           "9223372036854775807",
                           "99999999999999999999",
                           "1e400",
                           "?",
                           "\"\"",
                           "tensor<f32>",
                           "{",
                           "}",
                           "[]",
                           "<>",
                           "%0",
                           "@a",
                           "\"tp\"",
                           "dim",
                           "over",
                           "none",
                           "tensor<?x?xi32>",
                           "tensor<0x4xf32>",
                           "varying(7)",
                           "partial",
                           "-",
                           ":"};

void mutate(std::vector<std::string> &tokens, std::mt19937_64 &random) {
  auto pick = [&](size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random); };
  size_t at = pick(tokens.size());
  switch (pick(5)) {
  case 0:
    tokens.erase(tokens.begin() + static_cast<long>(at));
    break;
  case 1:
    tokens.insert(tokens.begin() + static_cast<long>(at), tokens[at]);
    break;
  case 2:
    std::swap(tokens[at], tokens[pick(tokens.size())]);
    break;
  case 3:
    tokens[at] = odd[pick(std::size(odd))];
    break;
  default:
    tokens[at] = tokens[pick(tokens.size())];
  }
}
} // namespace

TEST(MutatedText, NeitherParsersNorVerifiersCrash) {
  std::vector<Piece> all = pieces(/*invalid=*/true);
  ASSERT_GT(all.size(), 300u);
  std::mt19937_64 random(20261130);
  int64_t parsed = 0, draws = drawsOf(6000);
  auto context = std::make_unique<QuietContext>();
  for (int64_t draw = 0; draw < draws; ++draw) {
    const Piece &piece = all[std::uniform_int_distribution<size_t>(0, all.size() - 1)(random)];
    std::vector<std::string> tokens = tokensOf(piece.text);
    if (tokens.size() < 2)
      continue;
    for (int64_t count = std::uniform_int_distribution<int64_t>(1, 3)(random); count > 0 && tokens.size() > 1; --count)
      mutate(tokens, random);
    std::string text;
    for (const std::string &token : tokens)
      text += token;
    workingOn("// draw " + std::to_string(draw) + " of " + piece.file + "\n" + text);
    if (draw % 1000 == 999) // types and attributes of a context are never freed
      context = std::make_unique<QuietContext>();
    if (OwningOpRef<ModuleOp> module = context->parse(text)) {
      ++parsed;
      QuietContext::examine(*module);
    }
  }
  EXPECT_GT(parsed, draws / 10); // else verifiers would see nothing
  RecordProperty("parsed", static_cast<int>(parsed));
}
