// See RankStatus.h.
#include "runtime/Comm/RankStatus.h"
#include <algorithm>
#include <cstring>

namespace hocket::runtime {

std::string_view toString(RankState state) {
  constexpr std::string_view names[] = {
      "starting", "computing", "waiting in a collective", "waiting to send", "waiting to receive", "done", "failed"};
  auto index = static_cast<size_t>(state);
  return index < std::size(names) ? names[index] : "in an unknown state";
}

void RankStatus::fail(std::string_view message) {
  size_t bytes = std::min(message.size(), errorBytes);
  std::memcpy(text, message.data(), bytes);
  textBytes.store(static_cast<uint32_t>(bytes), std::memory_order_relaxed);
  state.store(RankState::Failed, std::memory_order_release);
}

std::string RankStatus::error() const {
  if (state.load(std::memory_order_acquire) != RankState::Failed)
    return {};
  return {text, std::min<size_t>(textBytes.load(std::memory_order_relaxed), errorBytes)};
}

} // namespace hocket::runtime
