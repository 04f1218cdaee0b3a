// How the ranks of a plan divide the experts of a mixture among them, beside how they divide all else.
#pragma once
#include "tools/hocket/Report.h"

namespace hocket::tools {
struct Job;
class Session;

/// world = tp pp cp dp = etp ep pp edp, where the plan splits experts: ep ranks share the experts, etp ranks each
/// expert, and edp ranks hold the same ones and see other tokens. What is left over on either side (ranks that no
/// tactic uses, or that hold the same experts and see the same tokens) is a further factor, `rest` and `copies`, 1 in a
/// plan that wastes nothing. Empty for plans that split no experts.
std::optional<ExpertReport> expertGroups(Session &session, const Job &job);
} // namespace hocket::tools
