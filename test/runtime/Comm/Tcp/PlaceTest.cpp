// What the variables of torchrun and Slurm mean, and every fault in them at once.
#include "runtime/Comm/Tcp/Place.h"
#include "runtime/Comm/Tcp/Rendezvous.h"
#include <gtest/gtest.h>
#include <map>

using namespace hocket::runtime;
using namespace hocket::runtime::tcp;
namespace {

using Variables = std::map<std::string, std::string>;

Environment with(Variables variables) {
  return [variables = std::move(variables)](const char *name) -> std::optional<std::string> {
    auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

const Variables torchrun{
    {"RANK", "3"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"MASTER_ADDR", "gpu07"}, {"MASTER_PORT", "29500"}};
const Variables slurm{{"SLURM_PROCID", "3"},       {"SLURM_NTASKS", "8"},  {"SLURM_LOCALID", "1"},
                      {"SLURM_JOB_ID", "1234567"}, {"SLURM_STEP_ID", "2"}, {"SLURM_JOB_NODELIST", "gpu[07-12,20]"}};

Variables changed(Variables variables, const Variables &changes) {
  for (const auto &[name, value] : changes)
    variables[name] = value;
  return variables;
}

TEST(TcpPlace, IsWhatTorchrunSays) {
  EXPECT_TRUE(startedOverTcp(with(torchrun)));
  auto place = placeOf(with(torchrun));
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->rank, 3);
  EXPECT_EQ(place->size, 8);
  EXPECT_EQ(place->localRank, 1);
  EXPECT_EQ(place->host, "gpu07");
  EXPECT_EQ(place->port, 29500);
  EXPECT_EQ(place->startSeconds, 120);
}

TEST(TcpPlace, IsBesideThePortOnWhichTorchrunListens) {
  EXPECT_EQ(placeOf(with(changed(torchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}})))->port, 29501);
  EXPECT_EQ(placeOf(with(changed(torchrun, {{"HOCKET_PORT", "40000"}})))->port, 40000);
}

TEST(TcpPlace, IsWhatSlurmSays) {
  EXPECT_TRUE(startedOverTcp(with(slurm)));
  auto place = placeOf(with(slurm));
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->rank, 3);
  EXPECT_EQ(place->size, 8);
  EXPECT_EQ(place->localRank, 1);
  EXPECT_EQ(place->host, "gpu07");
  EXPECT_EQ(place->port, 19567);
  EXPECT_EQ(place->job, "/1234567.2");
  EXPECT_EQ(placeOf(with(changed(slurm, {{"SLURM_STEP_NODELIST", "gpu20"}})))->host, "gpu20");
}

TEST(TcpPlace, ARankAloneIsNone) {
  EXPECT_FALSE(startedOverTcp(with({})));
  EXPECT_FALSE(startedOverTcp(with({{"MASTER_ADDR", "gpu07"}, {"MASTER_PORT", "29500"}})));
  EXPECT_FALSE(startedOverTcp(with({{"RANK", "3"}})));
}

TEST(TcpPlace, NamesEveryFault) {
  auto place =
      placeOf(with({{"RANK", "-1"}, {"WORLD_SIZE", "eight"}, {"LOCAL_RANK", "1.5"}, {"MASTER_PORT", "70000"}}));
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error().kind, ErrorKind::Invalid);
  EXPECT_EQ(place.error().message, "WORLD_SIZE is 'eight'; a whole number from 1 to 1048576 is needed; "
                                   "RANK is '-1'; a whole number from 0 to 1048575 is needed; "
                                   "LOCAL_RANK is '1.5'; a whole number from 0 to 1048575 is needed; "
                                   "MASTER_PORT is '70000'; a whole number from 1 to 65535 is needed; "
                                   "MASTER_ADDR is not set");
  EXPECT_EQ(placeOf(with({{"WORLD_SIZE", "2"}, {"MASTER_ADDR", "gpu07"}})).error().message,
            "RANK or SLURM_PROCID is not set; MASTER_PORT is not set");
  EXPECT_EQ(placeOf(with(changed(torchrun, {{"RANK", "8"}}))).error().message,
            "RANK is 8 and WORLD_SIZE is 8; ranks are 0 to 7");
}

TEST(TcpPlace, FirstHostOfAList) {
  EXPECT_EQ(firstHost("gpu07"), "gpu07");
  EXPECT_EQ(firstHost("gpu07,gpu08"), "gpu07");
  EXPECT_EQ(firstHost("gpu[07-12,20],login"), "gpu07");
  EXPECT_EQ(firstHost("gpu[3,5-9]-ib"), "gpu3-ib");
  EXPECT_EQ(firstHost("rack[1-2]node[08-09]"), "rack1node08");
  EXPECT_EQ(firstHost(""), "");
}

// A port of this machine that somebody listens on.
TEST(TcpRendezvous, APortInUseIsNamed) {
  Place place{0, 2, {}, "127.0.0.1", 0, 1, ""};
  mpi::Meeting meeting;
  auto taken = mpi::listenAnywhere(meeting);
  ASSERT_TRUE(taken);
  place.port = static_cast<int>(meeting.port);
  auto listening = listenAt(place);
  ASSERT_FALSE(listening);
  EXPECT_EQ(listening.error().kind, ErrorKind::Lacking);
  EXPECT_EQ(listening.error().message, "rank 0 cannot listen at port " + std::to_string(place.port) +
                                           ": Address already in use; MASTER_PORT or HOCKET_PORT names another");
}

TEST(TcpRendezvous, RankZeroThatDoesNotListenIsNamed) {
  Place place{1, 2, {}, "127.0.0.1", 1, 1, ""};
  auto meeting = report(place, 0.3);
  ASSERT_FALSE(meeting);
  EXPECT_EQ(meeting.error().kind, ErrorKind::Timeout);
  EXPECT_EQ(meeting.error().message, "rank 1: rank 0 does not answer at 127.0.0.1:1 within 0.3 s: Connection refused");
}

} // namespace
