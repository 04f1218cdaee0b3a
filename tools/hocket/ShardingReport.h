// What explain says of shardings: of each value where it lives and which tactic put it there, through which ops; of
// each collective what would remove it.
#pragma once
#include "tools/hocket/Lowering.h"
#include "tools/hocket/Report.h"

namespace hocket::tools {

/// One axis that splits a value, or over which it is partial.
struct SplitFact {
  int dim = -1; ///< -1: partial
  std::string axes, tactic, slot;
  std::vector<std::string> through; ///< ops from the slot to the value, "linear in h.0.attn.qkv"
};

/// A value of the global program, or a slot (`op` is then its kind).
struct ShardingFact {
  std::string name, op, phase, type, sharding, source;
  std::vector<SplitFact> splits;
};

struct ShardingFacts {
  std::vector<ShardingFact> values; ///< in program order, slots first
  /// By the tactic that a collective's cause begins with, as tacticText writes it: what would remove the collective.
  std::map<std::string, std::string> remedies;
  /// Collectives that no tactic asks for, by what names them in the program file (transferKey): the tactic that removes
  /// each.
  std::map<std::string, std::string> implicit;
};

/// Lowers the job once more, as far as local programs. Nothing after a report of a fault.
std::optional<ShardingFacts> findShardings(Session &session, const Job &job);

/// Fills in what would remove each transfer, and which are implicit.
void addRemedies(const ShardingFacts &facts, Report &report);

/// Layers that are alike are one line.
std::string shardingText(const ShardingFacts &facts, const Report &report);
nlohmann::ordered_json shardingJson(const std::vector<ShardingFact> &values);
/// "dim 2 over tp: split h.*.attn.qkv.weight dim 2 over tp, from h.0.attn.qkv.weight through linear in h.0.attn.qkv"
std::string splitText(const SplitFact &split);
} // namespace hocket::tools
