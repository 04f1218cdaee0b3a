// The flags that say what data is, for every program that reads some.
#ifndef HOCKET_RUNTIME_LAUNCH_DATAFLAGS_H
#define HOCKET_RUNTIME_LAUNCH_DATAFLAGS_H

#include "runtime/Data/DataSource.h"
#include "runtime/Launch/OptionValues.h"

namespace hocket::run {

/// Adds --data, which is returned, and its kin; they write into `source`, which must outlive the parsing.
inline CLI::Option *addDataFlags(CLI::App &app, runtime::DataSource &source) {
  constexpr int64_t mostIds = int64_t(1) << 31;
  auto *data = app.add_option("--data", source.path,
                              "token ids: a file, or the prefix of Megatron-LM's PREFIX.bin and PREFIX.idx")
                   ->check(notEmpty());
  app.add_option_function<std::string>(
         "--data-type", [&source](const std::string &text) { source.format = runtime::parseDataFormat(text); },
         "u8, u16 or u32: ids one after another; megatron: what PREFIX.idx says (megatron where there is one, else u8)")
      ->check(oneOf({"u8", "u16", "u32", "megatron"}));
  app.add_option("--document-end", source.documentEnd,
                 "the id with which every document ends, instead of the documents of PREFIX.idx")
      ->check(wholeNumber(0, mostIds));
  app.add_flag("--mask-document-ends", source.maskDocumentEnds,
               "do not count the label after a document's last token: it belongs to another document");
  app.add_option("--pad-id", source.padding, "do not count labels where the token or the label is this id")
      ->check(wholeNumber(0, mostIds));
  app.add_flag("!--no-shuffle", source.shuffle, "read samples in the order of the file");
  return data;
}
} // namespace hocket::run

#endif
