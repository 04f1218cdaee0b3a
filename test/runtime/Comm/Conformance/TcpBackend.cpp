// Ranks of the conformance suite as torchrun starts them.
#include "Conformance/ShmStart.h"
#include "runtime/Comm/Tcp/TcpWorld.h"
#include <arpa/inet.h>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace hocket::runtime;
namespace hocket::test {
namespace {

// One that was free a moment ago.
int freePort() {
  int file = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  bind(file, reinterpret_cast<sockaddr *>(&address), length);
  getsockname(file, reinterpret_cast<sockaddr *>(&address), &length);
  close(file);
  return ntohs(address.sin_port);
}

class TcpBackend : public Backend {
public:
  std::string name() const override { return "tcp"; }

  std::vector<Outcome> run(const std::string &scenario,
                           const std::function<void(const std::vector<int> &)> &meanwhile) override {
    int size = scenarios().at(scenario).worldSize;
    std::string folder = fmt::format("{}hocket-tcp-{}-{}", testing::TempDir(), scenario, getpid());
    std::filesystem::create_directories(folder);
    for (auto [name, value] : {std::pair<const char *, std::string>{"HOCKET_TEST_BACKEND", "tcp"},
                               {"HOCKET_TEST_FOLDER_OF_RANKS", folder},
                               {"MASTER_ADDR", "127.0.0.1"},
                               {"MASTER_PORT", std::to_string(freePort())},
                               {"WORLD_SIZE", std::to_string(size)}})
      setenv(name, value.c_str(), 1);
    auto prepare = [](int rank) { setenv("RANK", std::to_string(rank).c_str(), 1); };
    auto outcomes = startRanks(scenario, prepare, [&](const std::vector<int> &pids) {
      if (!meanwhile)
        return;
      for (int i = 0, come = 0; i < 3000 && come < size; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        come = static_cast<int>(std::distance(std::filesystem::directory_iterator(folder), {}));
      }
      meanwhile(pids);
    });
    for (const char *name :
         {"HOCKET_TEST_BACKEND", "HOCKET_TEST_FOLDER_OF_RANKS", "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"})
      unsetenv(name);
    std::filesystem::remove_all(folder);
    return outcomes;
  }

  Result<std::unique_ptr<World>> join(int rank) override {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Result<tcp::Place> place = tcp::placeOf(tcp::ownEnvironment());
    if (!place)
      return std::move(place.error());
    Result<std::unique_ptr<tcp::TcpWorld>> world = tcp::TcpWorld::join(*place, patience);
    if (!world)
      return std::move(world.error());
    if (Status got = (*world)->reserve(scenarios().at(std::getenv("HOCKET_TEST_SCENARIO")).arenaBytes); !got)
      return std::move(got.error());
    std::ofstream(fmt::format("{}/{}", std::getenv("HOCKET_TEST_FOLDER_OF_RANKS"), rank));
    return std::unique_ptr<World>(std::move(*world));
  }
};

} // namespace

Backend &tcpBackend() {
  static TcpBackend backend;
  return backend;
}

} // namespace hocket::test
