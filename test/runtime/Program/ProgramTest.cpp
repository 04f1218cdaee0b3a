// The file itself: what is written can be read; what is damaged, cut short or foreign is refused with one message.
#include "GpuSample.h"
#include "runtime/Program/Executable.h"
#include <cstring>
#include <elf.h>
#include <fstream>
#include <gmock/gmock.h>

using namespace hocket::program;
using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

namespace {
// A copy of a file's bytes where `open` wants them.
struct Aligned {
  alignas(fileAlignment) uint8_t bytes[1 << 14];
  size_t size;
  explicit Aligned(const std::vector<uint8_t> &from) : size(from.size()) {
    EXPECT_LE(size, sizeof bytes);
    std::memcpy(bytes, from.data(), size);
  }
  std::span<const uint8_t> span() const { return {bytes, size}; }
};

std::string onlyFault(std::span<const uint8_t> bytes) {
  Opened opened = open(bytes);
  EXPECT_EQ(opened.program, nullptr);
  EXPECT_EQ(opened.faults.size(), 1u);
  return opened.faults.empty() ? "" : opened.faults.front();
}
} // namespace

TEST(ProgramFile, ReadsWhatItWrote) {
  Aligned file(write(hocket::sample::sampleProgram()));
  Opened opened = open(file.span());
  ASSERT_THAT(opened.faults, ElementsAre());
  EXPECT_EQ(opened.program->name()->str(), "sample");
  EXPECT_EQ(opened.program->ranks()->size(), 2u);
  EXPECT_EQ(opened.program->ranks()->Get(0)->entries()->Get(0)->rows()->size(), 14u);
}

TEST(ProgramFile, EveryBitFlipIsRefused) {
  Aligned file(write(hocket::sample::sampleProgram()));
  for (size_t byte = 0; byte < file.size; ++byte)
    for (int bit = 0; bit < 8; ++bit) {
      file.bytes[byte] ^= 1 << bit;
      ASSERT_THAT(onlyFault(file.span()), AnyOf(StartsWith("program file "), StartsWith("not a program file: ")));
      file.bytes[byte] ^= 1 << bit;
    }
}

// A flip that a new checksum hides: nothing crashes, and whatever opens can be walked to its last index.
static void flipAllResealed(const ProgramT &program) {
  std::vector<uint8_t> file = write(program);
  std::vector<uint8_t> payload(file.begin() + sizeof(FileHeader), file.end());
  size_t refused = 0, opened = 0;
  for (size_t byte = 0; byte < payload.size(); ++byte)
    for (int bit = 0; bit < 8; ++bit) {
      payload[byte] ^= 1 << bit;
      Aligned sealed(seal(payload));
      (open(sealed.span()).program ? opened : refused)++;
      payload[byte] ^= 1 << bit;
    }
  // What still opens are names, strings, scales, padding between fields and sizes that only grow.
  EXPECT_GT(refused, opened);
}

TEST(ProgramFile, ResealedBitFlipsNeverCrash) { flipAllResealed(hocket::sample::sampleProgram()); }

TEST(ProgramFile, ResealedBitFlipsNeverCrashForGpus) { flipAllResealed(hocket::sample::cudaSample()); }

TEST(ProgramFile, EveryTruncationIsRefused) {
  Aligned file(write(hocket::sample::sampleProgram()));
  for (size_t length = 0; length < file.size; ++length)
    ASSERT_THAT(onlyFault(file.span().first(length)), HasSubstr("truncated"));
  EXPECT_EQ(onlyFault(file.span().first(100)),
            "program file is truncated: 36 bytes follow the header, which announces " +
                std::to_string(file.size - sizeof(FileHeader)));
}

TEST(ProgramFile, ForeignFiles) {
  std::vector<uint8_t> bytes(200);
  std::memcpy(bytes.data(), "#!/bin/sh", 9);
  EXPECT_EQ(onlyFault(Aligned(bytes).span()), "not a program file: starts with the bytes 23 21 2f 62 69 6e 2f 73, "
                                              "expected 48 4f 43 4b 45 54 0d 0a");
  std::vector<uint8_t> file = write(hocket::sample::sampleProgram());
  std::vector<uint8_t> longer = file;
  longer.push_back(0);
  EXPECT_THAT(onlyFault(Aligned(longer).span()), HasSubstr("is too long"));
  file[8] = 9;
  EXPECT_EQ(onlyFault(Aligned(file).span()), "program file has version 9, this runtime reads version 1");
  EXPECT_THAT(onlyFault(Aligned(seal(std::vector<uint8_t>(64, 7))).span()),
              HasSubstr("not a program of the expected structure"));
}

TEST(ProgramFile, MisalignedBytes) {
  std::vector<uint8_t> file = write(hocket::sample::sampleProgram());
  file.insert(file.begin(), 8, 0);
  Aligned shifted(file);
  EXPECT_EQ(onlyFault(shifted.span().subspan(8)),
            "program lies at an address that is 8 past a multiple of 64, expected a multiple");
}

TEST(Executable, ForeignFilesAreNamed) {
  EXPECT_THAT(readExecutable("/nowhere/gpt").error().message, "cannot open '/nowhere/gpt': No such file or directory");
  EXPECT_THAT(readExecutable("/").error().message, "'/' is not a regular file");
  std::string text = testing::TempDir() + "hocket-executable-test";
  std::ofstream(text) << "no program";
  EXPECT_THAT(readExecutable(text).error().message,
              AllOf(HasSubstr("is not an executable made by hocket compile"), HasSubstr("no ELF file")));
  EXPECT_THAT(readExecutable("/proc/self/exe").error().message,
              AnyOf(HasSubstr("is not a regular file"), HasSubstr("it has no section .hocket.program")));
}

// This test's own file, cut anywhere: a message, never a crash.
TEST(Executable, TruncatedElf) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string whole((std::istreambuf_iterator<char>(self)), {});
  std::string path = testing::TempDir() + "hocket-truncated-elf";
  for (size_t length : {size_t(0), size_t(4), size_t(63), size_t(64), whole.size() / 2, whole.size() - 1}) {
    std::ofstream(path, std::ios::binary).write(whole.data(), static_cast<std::streamsize>(length));
    EXPECT_THAT(readExecutable(path).error().message, HasSubstr(path));
  }
  std::remove(path.c_str());
}
