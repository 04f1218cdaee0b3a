// Makes a failing draw smaller while it fails in the same way.
#pragma once
#include "test/property/Draw.h"
#include <functional>

namespace hocket::property {
/// `fails` says whether a draw fails as the first one did; it is asked at most `tries` times.
Draw shrink(Draw draw, const std::function<bool(const Draw &)> &fails, int tries);
} // namespace hocket::property
