// Adds up a program.
#include "tools/hocket/PlanTotals.h"
#include "tools/hocket/AlikeLines.h"
#include "tools/hocket/ProgramTables.h"
#include <fmt/format.h>
using namespace hocket;
using namespace hocket::tools;

namespace {
void addTransfers(PlanTotals &totals, const Report &report) {
  uint64_t most = 0;
  for (const RankReport &rank : report.ranks) {
    std::map<std::pair<std::string, std::string>, uint64_t> sent;
    uint64_t all = 0;
    for (const TransferReport &t : report.transfers) {
      if (t.stage != rank.stage)
        continue;
      bool message = t.op == "send" || t.op == "receive";
      std::pair<std::string, std::string> key{message ? "stages" : t.axes, t.op};
      if (t.sent) {
        sent[key] += t.sent * t.count;
        totals.sentByAll[key] += t.sent * t.count * rank.ranks;
        all += t.sent * t.count;
      }
      std::string path = withoutLayer(t.path).first;
      auto &entry = totals.collectives[fmt::format("{} {}{}{}", t.phase, t.op, message ? "" : " over " + t.axes,
                                                   path.empty() ? "" : " of " + path)];
      entry.count += t.count;
      entry.bytes += t.count * t.bytes;
      std::string cause = withoutLayers(t.cause);
      size_t more = cause.find("; ");
      entry.cause = more == std::string::npos ? cause : cause.substr(0, more) + "; …";
    }
    if (all > most || totals.sentMost.empty()) {
      most = all;
      totals.sentMost = std::move(sent);
    }
  }
}

struct Work {
  uint64_t launches = 0, products = 0, flops = 0;
};
Work workOf(const program::ProgramT &program, const program::RankProgramT &rank) {
  std::map<uint32_t, uint64_t> runs;
  for (auto &entry : rank.entries)
    if (entry->name == "train" || rank.entries.size() == 1)
      for (const program::Row &row : entry->rows)
        if (row.kind() == program::RowKind::Body)
          ++runs[row.index()];
  Work work;
  for (auto [body, times] : runs)
    for (auto &each : rank.bodies[body]->instructions) {
      if (each->op == program::Op::Kernel) {
        work.launches += times;
        work.flops += times * program.kernels[each->kernel]->flops;
      } else if (each->op == program::Op::Gemm) {
        work.products += times;
        work.flops += times * 2 * each->gemm->m() * each->gemm->n() * each->gemm->k() * each->gemm->batch();
      }
    }
  return work;
}
} // namespace

PlanTotals hocket::tools::totalsOf(const program::ProgramT &program, const Report &report) {
  PlanTotals totals;
  totals.plan = program.plan;
  totals.schedule = program.schedule;
  totals.stages = program.ranks.size();
  totals.microbatches = program.microbatches;
  totals.kernels = program.kernels.size();
  for (auto &axis : program.axes)
    totals.mesh += fmt::format("{}{}={}", totals.mesh.empty() ? "" : " ", axis->name, axis->size);
  for (const RankReport &rank : report.ranks) {
    totals.ranks += rank.ranks;
    if (rank.peakBytes > totals.peakBytes) {
      totals.peakBytes = rank.peakBytes;
      totals.bytesByClass = rank.bytesByClass;
    }
    if (rank.hostBytes > totals.hostBytes) {
      totals.hostBytes = rank.hostBytes;
      totals.hostBytesByClass = rank.hostBytesByClass;
    }
    for (auto &each : program.ranks)
      if (each->stage == rank.stage) {
        Work work = workOf(program, *each);
        totals.flopsOfAll += work.flops * rank.ranks;
        if (work.flops >= totals.flops) {
          totals.flops = work.flops;
          totals.launches = work.launches;
          totals.products = work.products;
        }
      }
  }
  if (totals.stages > 1)
    if (auto step = simulateUnits(tablesOf(program))) {
      totals.bubbleOfTotal = step->bubbleOfTotal();
      totals.bubbleOfIdeal = step->bubbleOfIdeal();
    }
  addTransfers(totals, report);
  return totals;
}
