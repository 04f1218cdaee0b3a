// Names of formats; contracts in DataSource.h.
#include "runtime/Data/DataSource.h"

namespace hocket::runtime {

std::string_view toString(DataFormat format) {
  constexpr std::string_view names[] = {"u8", "u16", "u32", "megatron"};
  return names[static_cast<int>(format)];
}

std::optional<DataFormat> parseDataFormat(std::string_view text) {
  for (DataFormat format : {DataFormat::U8, DataFormat::U16, DataFormat::U32, DataFormat::Megatron})
    if (text == toString(format))
      return format;
  return {};
}

} // namespace hocket::runtime
