// A plan with nothing left to be guessed: the tactics that `split megatron` and `split auto` stand for.
#pragma once
#include "tools/hocket/Lowering.h"
#include <nlohmann/json.hpp>

namespace hocket::tools {
/// Puts what each `split auto` of the job's plan stands for into the plan in its place, so that the search is done
/// once, and every layer and report has names; and notes it in the job. Faults of the plan are reported; the plan is
/// left as it is then.
void writeAutoTactics(Session &session, Job &job);
/// Notes in the job what each `split megatron` stands for. Faults of lowering the model have been reported
/// (session.errors()).
void findMegatronTactics(Session &session, Job &job);
/// On stderr, as a file would have them.
void printFoundTactics(const Job &job);
/// The same as lines of a report; empty if the plan has no such tactic.
std::string foundTacticsText(const Job &job);
/// Every tactic of the plan as text, those that were found in place of their form.
nlohmann::ordered_json tacticsJson(const Job &job);
} // namespace hocket::tools
