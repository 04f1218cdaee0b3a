// Published deadlocks, in the text form. A stage here is a rank; its one stream runs everything, as in the reports.
#include "ScheduleTesting.h"
#include "passes/Schedule/TableText.h"

namespace hocket::schedule {
namespace {

std::string verdict(std::string_view source, Semantics semantics = {}) {
  Faults faults;
  std::optional<Tables> tables = parseTables(source, faults);
  EXPECT_TRUE(tables.has_value()) << text(faults);
  return tables ? text(judgeMessages(*tables, semantics)) : "";
}

// NVIDIA/nccl issue 479: both ranks send first.
TEST(Deadlock, BothSendFirst) {
  EXPECT_EQ(verdict(R"(schedule stages 2 chunks 1 microbatches 1
message activation 0.0 -> 1.0
message gradient 1.0 -> 0.0
stage 0 slots 1 streams compute
  compute: send activation c0 m0 to 1 slot 0
  compute: receive gradient c0 m0 from 1 slot 0
stage 1 slots 1 streams compute
  compute: send gradient c0 m0 to 0 slot 0
  compute: receive activation c0 m0 from 0 slot 0
)"),
            R"(deadlock with rendezvous sends: 2 rows wait for each other, 4 of 4 rows never run after time 0
  stage 0, time 0: send of the activation of microbatch 0 to stage 1 waits for stage 1's receive of the activation of microbatch 0 from stage 0, which stands behind the send of the gradient of microbatch 0 to stage 0
  stage 1, time 0: send of the gradient of microbatch 0 to stage 0 waits for stage 0's receive of the gradient of microbatch 0 from stage 1, which stands behind the send of the activation of microbatch 0 to stage 1
)");
}

TEST(Deadlock, BothSendFirstOnStreamsOfTheirOwn) {
  EXPECT_EQ(verdict(R"(schedule stages 2 chunks 1 microbatches 1
message activation 0.0 -> 1.0
message gradient 1.0 -> 0.0
stage 0 slots 1 streams compute, send, receive
  send: send activation c0 m0 to 1 slot 0
  receive: receive gradient c0 m0 from 1 slot 0
stage 1 slots 1 streams compute, send, receive
  send: send gradient c0 m0 to 0 slot 0
  receive: receive activation c0 m0 from 0 slot 0
)"),
            "");
}

TEST(Deadlock, OneRankReceivesFirst) {
  EXPECT_EQ(verdict(R"(schedule stages 2 chunks 1 microbatches 1
message activation 0.0 -> 1.0
message gradient 1.0 -> 0.0
stage 0 slots 1 streams compute
  compute: send activation c0 m0 to 1 slot 0
  compute: receive gradient c0 m0 from 1 slot 0
stage 1 slots 1 streams compute
  compute: receive activation c0 m0 from 0 slot 0
  compute: send gradient c0 m0 to 0 slot 0
)"),
            "");
}

// pytorch/pytorch issue 172668. Its stages 0..3 are here the virtual stages on ranks 0, 1, 0, 1.
const char *const pytorchA = R"(schedule stages 2 chunks 2 microbatches 2
message activation 0.0 -> 1.0
message activation 1.0 -> 0.1
stage 0 slots 2 streams compute
  compute: send activation c0 m1 to 1 slot 0     // 0SendF1
  compute: receive activation c1 m0 from 1 slot 1   // 2RecvF0
stage 1 slots 2 streams compute
  compute: send activation c0 m0 to 0 slot 0     // 1SendF0
  compute: receive activation c0 m1 from 0 slot 1   // 1RecvF1
)";

TEST(Deadlock, PyTorchTrace) {
  EXPECT_EQ(verdict(pytorchA),
            R"(deadlock with rendezvous sends: 2 rows wait for each other, 4 of 4 rows never run after time 0
  stage 0, time 0: send of the activation of microbatch 1 (chunk 0) to stage 1 waits for stage 1's receive of the activation of microbatch 1 (chunk 0) from stage 0, which stands behind the send of the activation of microbatch 0 (chunk 0) to stage 0
  stage 1, time 0: send of the activation of microbatch 0 (chunk 0) to stage 0 waits for stage 0's receive of the activation of microbatch 0 (chunk 1) from stage 1, which stands behind the send of the activation of microbatch 1 (chunk 0) to stage 1
)");
  EXPECT_EQ(verdict(pytorchA, {1}), "");
}

// The same after odd ranks receive first: still a deadlock, between 0SEND_F2 and 3SEND_B0.
const char *const pytorchB = R"(schedule stages 2 chunks 2 microbatches 3
message activation 0.0 -> 1.0
message activation 0.1 -> 1.1
message gradient 1.1 -> 0.1
stage 0 slots 3 streams compute
  compute: send activation c1 m1 to 1 slot 1     // 2SEND_F1
  compute: forward c0 m2 slot 2                  // 0F2
  compute: send activation c0 m2 to 1 slot 2     // 0SEND_F2
  compute: receive gradient c1 m0 from 1 slot 0  // 2RECV_B0
stage 1 slots 3 streams compute
  compute: receive activation c1 m1 from 0 slot 1  // 3RECV_F1
  compute: send gradient c1 m0 to 0 slot 0       // 3SEND_B0
  compute: forward c1 m1 slot 1                  // 3F1
  compute: backward c1 m1 slot 1                 // 3B1
  compute: receive activation c0 m2 from 0 slot 2  // 1RECV_F2
)";

TEST(Deadlock, PyTorchTraceAfterParitySwap) {
  EXPECT_EQ(verdict(pytorchB),
            R"(deadlock with rendezvous sends: 2 rows wait for each other, 6 of 9 rows never run after time 1
  stage 0, time 1: send of the activation of microbatch 2 (chunk 0) to stage 1 waits for stage 1's receive of the activation of microbatch 2 (chunk 0) from stage 0, which stands behind the send of the gradient of microbatch 0 (chunk 1) to stage 0
  stage 1, time 0: send of the gradient of microbatch 0 (chunk 1) to stage 0 waits for stage 0's receive of the gradient of microbatch 0 (chunk 1) from stage 1, which stands behind the send of the activation of microbatch 2 (chunk 0) to stage 1
)");
  EXPECT_EQ(verdict(pytorchB, {1}), "");
}

// With K buffers, K sends go ahead of their receives and the next one waits.
TEST(Deadlock, BuffersCount) {
  const char *const twoAhead = R"(schedule stages 2 chunks 1 microbatches 2
message activation 0.0 -> 1.0
message gradient 1.0 -> 0.0
stage 0 slots 2 streams compute
  compute: send activation c0 m0 to 1 slot 0
  compute: send activation c0 m1 to 1 slot 1
  compute: receive gradient c0 m0 from 1 slot 0
stage 1 slots 2 streams compute, receive
  compute: send gradient c0 m0 to 0 slot 0
  receive: receive activation c0 m0 from 0 slot 0 after compute 2
  compute: receive activation c0 m1 from 0 slot 1
)";
  EXPECT_THAT(verdict(twoAhead, {1}), testing::HasSubstr("deadlock with buffered:1 sends"));
  EXPECT_THAT(verdict(twoAhead, {2}), testing::Not(testing::HasSubstr("deadlock")));
}

TEST(Deadlock, WaitsInACircle) {
  EXPECT_EQ(verdict(R"(schedule stages 1 chunks 1 microbatches 2
stage 0 slots 2 streams compute, copy
  compute: forward c0 m0 slot 0
  compute: backward c0 m0 slot 0 after copy 1
  copy: forward c0 m1 slot 1 after compute 2
)"),
            R"(deadlock with rendezvous sends: 2 rows wait for each other, 2 of 3 rows never run after time 1
  stage 0, time 1: backward of microbatch 0 waits for the forward of microbatch 1
  stage 0, time 0: forward of microbatch 1 waits for the backward of microbatch 0
)");
}

TEST(Deadlock, MessageWithoutPartner) {
  EXPECT_EQ(verdict(R"(schedule stages 2 chunks 1 microbatches 2
message activation 0.0 -> 1.0
stage 0 slots 2 streams compute
  compute: send activation c0 m0 to 1 slot 0
  compute: send activation c0 m1 to 1 slot 1
stage 1 slots 2 streams compute
  compute: receive activation c0 m1 from 0 slot 1
)"),
            "stage 0, time 0: send of the activation of microbatch 0 to stage 1 has no receive\n");
}

TEST(Deadlock, SemanticsByName) {
  Faults faults;
  EXPECT_EQ(parseSemantics("rendezvous", faults)->buffers, 0u);
  EXPECT_EQ(parseSemantics("buffered:4", faults)->buffers, 4u);
  EXPECT_FALSE(parseSemantics("buffered:0", faults) || parseSemantics("eager", faults));
  EXPECT_TRUE(parseSemantics("nccl", faults)->nccl);
  EXPECT_EQ(parseSemantics("nccl:2", faults)->resident, 2u);
  EXPECT_EQ(name(*parseSemantics("nccl:2", faults)), "nccl:2");
  EXPECT_EQ(text(faults),
            "unknown semantics 'buffered:0'; known: rendezvous, nccl, nccl:R (R communication kernels at work "
            "on a rank at a time, 1 or more), buffered:K (K messages, 1 or more)\n"
            "unknown semantics 'eager'; known: rendezvous, nccl, nccl:R (R communication kernels at work on a "
            "rank at a time, 1 or more), buffered:K (K messages, 1 or more)\n");
}

} // namespace
} // namespace hocket::schedule
