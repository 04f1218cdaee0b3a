// Tables as text, one line a row, and back. For people, for tests and for schedules that a user writes.
//
//   schedule stages 2 chunks 1 microbatches 2
//   message activation 0.0 -> 1.0              // stage.chunk; `on NAME` behind it names the communicator (all or none)
//   message gradient 1.0 -> 0.0
//   stage 0 slots 2 streams compute, send_next, receive_next
//     compute: begin
//     compute: forward c0 m0 slot 0
//     send_next: send activation c0 m0 to 1 slot 0 after compute 2
//     receive_next: receive gradient c0 m0 from 1 slot 0 after compute 2, send_next 1
//     compute: backward c0 m0 slot 0 after receive_next 1
//     …
//
// A table that begins with `trace` instead of `schedule` is a piece of a step, of which only the messages are judged.
// A stage has at most a slot for each chunk and microbatch. `after compute 2`: the first two rows of stream compute have
// finished. c is the chunk on the row's own stage. `//` opens a comment; blanks separate words.
#pragma once

#include "passes/Schedule/Fault.h"
#include "passes/Schedule/Table.h"

#include <optional>
#include <string_view>

namespace hocket::schedule {

/// One row without its line end; `stage` is the row's own. Precondition: indices and streams within their range.
std::string printRow(const Tables &tables, uint32_t stage, const Row &row);

/// parseTables(printTables(t)) == t.
std::string printTables(const Tables &tables);

/// Every line that cannot be read is one fault that begins with "line N: ". Numbers are held to the header's ranges, so
/// that a parsed table has the shape that describe() and the judge need; what it does is the judge's to say.
std::optional<Tables> parseTables(std::string_view text, Faults &faults);

} // namespace hocket::schedule
