// See DeviceTrace.h.
#include "runtime/Executor/DeviceTrace.h"

namespace hocket::runtime {

Status DeviceTrace::record(Stream &stream, std::unique_ptr<Event> &event) {
  Result<std::unique_ptr<Event>> made = context.device.timedEvent();
  if (!made)
    return std::move(made.error());
  event = std::move(*made);
  return context.device.record(stream, *event);
}

Status DeviceTrace::origin(Stream &stream) {
  firstTime = Trace::now();
  return context.trace ? record(stream, first) : Status();
}

Status DeviceTrace::begin(Stream &stream, uint32_t lane, uint32_t row, uint32_t instruction) {
  if (!context.trace)
    return {};
  pieces.push_back({lane, row, instruction, nullptr, nullptr});
  return record(stream, pieces.back().begin);
}

Status DeviceTrace::end(Stream &stream) { return context.trace ? record(stream, pieces.back().end) : Status(); }

Status DeviceTrace::collect(uint64_t step, uint64_t evaluation) {
  for (Piece &piece : pieces) {
    Result<double> begin = context.device.seconds(*first, *piece.begin);
    Result<double> end = context.device.seconds(*first, *piece.end);
    if (!begin || !end)
      return std::move(begin ? end.error() : begin.error());
    const program::Row &row = *entry.rows()->Get(piece.row);
    auto at = [&](double seconds) {
      return firstTime + std::chrono::duration_cast<Trace::Time::duration>(std::chrono::duration<double>(seconds));
    };
    std::string_view name;
    if (row.kind() == program::RowKind::Body)
      name = context.text(context.own.bodies()->Get(row.index())->instructions()->Get(piece.instruction)->what());
    else
      name = context.own.messages()->Get(row.index())->name()->string_view();
    context.trace->add(
        {name, static_cast<uint8_t>(piece.lane), row.microbatch(), step, at(*begin), at(*end), 0, evaluation});
  }
  pieces.clear();
  return {};
}

} // namespace hocket::runtime
