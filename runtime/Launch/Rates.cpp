// See Rates.h.
#include "runtime/Launch/Rates.h"
#include <nlohmann/json.hpp>

namespace hocket::run {

void addRates(nlohmann::json &event, const program::StepCounts &counts) {
  double seconds = event.at("seconds").get<double>();
  event["tokens_per_second"] = event.at("tokens").get<double>() / seconds;
  event["flops_per_second"] = counts.flops / seconds;
  event["sent_bytes"] = counts.sentBytes;
  event["sent_bytes_max"] = counts.mostSentBytes;
}

} // namespace hocket::run
