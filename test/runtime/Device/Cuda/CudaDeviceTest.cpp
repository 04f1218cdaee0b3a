// What a machine lacks, in whole sentences; calls that the conformance suite does not see.
#include "runtime/Device/Cuda/CudaDevice.h"
#include "Conformance/Subject.h"
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace hocket::test;
using namespace hocket::runtime::cuda;
namespace {

template <class T> std::string lacking(Result<T> opened) {
  if (opened)
    return "";
  EXPECT_EQ(opened.error().kind, ErrorKind::Lacking); // exit status 4
  return opened.error().message;
}

TEST(CudaDriver, SaysThatItIsMissing) {
  EXPECT_EQ(lacking(Driver::open("libcuda-of-nobody.so.1")),
            "the NVIDIA driver is missing (libcuda-of-nobody.so.1: cannot open shared object file: No such file or "
            "directory); a driver for "
            "CUDA 12.0 or later is needed");
}

TEST(CudaDriver, SaysThatItIsTooOld) {
  EXPECT_EQ(lacking(Driver::open(HOCKET_FAKE_OLD_DRIVER)),
            "the NVIDIA driver is too old: it is for CUDA 11.4; a driver for CUDA 12.0 or later is needed");
}

TEST(CudaDriver, NamesEveryFunctionThatIsMissing) {
  std::string found = lacking(Driver::open(HOCKET_FAKE_BLASLT));
  EXPECT_THAT(found, testing::StartsWith("the NVIDIA driver is too old: "));
  EXPECT_THAT(found, testing::EndsWith(" lacks " + [] {
                std::string all;
                for (const std::string &symbol : Driver::symbols())
                  all += (all.empty() ? "" : ", ") + symbol;
                return all;
              }() + "; a driver for CUDA 12.0 or later is needed"));
}

TEST(CudaDriver, SaysThatThereIsNoGpu) {
  EXPECT_EQ(lacking(Driver::open(HOCKET_FAKE_NO_DEVICE)), "the NVIDIA driver finds no GPU on this machine");
}

TEST(CudaBlasLt, SaysThatItIsMissingOrTooOld) {
  const char *nobody[] = {"libcublasLt-of-nobody.so.1", "libcublasLt-of-nobody.so"};
  EXPECT_EQ(
      lacking(BlasLt::open(nobody)),
      "cublasLt is missing (libcublasLt-of-nobody.so.1: cannot open shared object file: No such file or directory; "
      "libcublasLt-of-nobody.so: cannot open shared object file: No such file or directory); cublasLt of CUDA 12.0 or "
      "later is needed");
  const char *old[] = {HOCKET_FAKE_OLD_BLASLT};
  EXPECT_EQ(lacking(BlasLt::open(old)), "cublasLt is too old: it is 11.8; cublasLt of CUDA 12.0 or later is needed");
}

std::string lackingDevice(const char *driverFile, int ordinal) {
  const char *blasFile[] = {HOCKET_FAKE_BLASLT};
  return lacking(CudaDevice::create(*Driver::open(driverFile), *BlasLt::open(blasFile), ordinal));
}

TEST(CudaDevice, SaysWhichGpuIsNotThereOrTooOld) {
  EXPECT_EQ(lackingDevice(HOCKET_FAKE_DRIVER, 3), "no GPU 3: this process sees 1");
  EXPECT_EQ(lackingDevice(HOCKET_FAKE_OLD_GPU, 0), "GPU 0 (Fake GPU) is sm_70; sm_80 or later is needed");
}

TEST(CudaDevice, KnowsItsGpu) {
  auto device = makeDevice(0);
  auto &cuda = dynamic_cast<CudaDevice &>(*device);
  EXPECT_EQ(cuda.gpu(), "Fake GPU");
  EXPECT_EQ(cuda.architecture(), 90);
}

TEST(CudaDevice, LoadsWhatItsArchitectureRuns) {
  auto device = makeDevice(0); // sm_90
  auto loaded = [&](std::vector<std::pair<int, std::string_view>> cubins) {
    return device->loadable({"bitcode", "ptx", std::move(cubins)});
  };
  EXPECT_EQ(loaded({{80, "a"}, {90, "b"}, {100, "c"}}), "b");
  EXPECT_EQ(loaded({{80, "a"}, {100, "c"}}), "ptx");
  EXPECT_EQ(loaded({{92, "newer"}}), "ptx");
  EXPECT_EQ(loaded({}), "ptx");
}

TEST(CudaDevice, TimedEventsTellSeconds) {
  auto device = makeDevice(0);
  auto stream = *device->stream();
  auto since = *device->timedEvent(), until = *device->timedEvent(), plain = *device->event();
  ASSERT_TRUE(device->record(*stream, *since));
  ASSERT_TRUE(device->record(*stream, *until));
  EXPECT_FLOAT_EQ(*device->seconds(*since, *until), 1e-3); // the fake counts milliseconds between records
  EXPECT_EQ(device->seconds(*since, *plain).error().message,
            "cuEventElapsedTime: invalid argument (CUDA_ERROR_INVALID_VALUE)");
}

TEST(CudaDevice, AsksForMuchSharedMemory) {
  auto device = makeDevice(0);
  auto stream = *device->stream();
  int64_t x = 3, two = 2;
  void *buffers[] = {&x, &x};
  EXPECT_TRUE(
      device->launch(*stream, {scaleKernel(*device), buffers, {&two, 1}, 1, {{1, 1, 1}, {1, 1, 1}, 100 << 10}}));
  EXPECT_EQ(x, 6);
}

TEST(CudaDevice, PassesOnWhatTheDriverSays) {
  auto device = makeDevice(0);
  EXPECT_EQ(device->kernel("something else", "scale").error().message,
            "kernel \"scale\": cuModuleLoadData: invalid argument (CUDA_ERROR_INVALID_VALUE)");
  EXPECT_EQ(device->kernel("code", "other").error().message,
            "kernel \"other\": cuModuleGetFunction: invalid argument (CUDA_ERROR_INVALID_VALUE)");
}

TEST(CudaDevice, AsksForTheBestAlgorithmOfAShapeOnce) {
  auto device = makeDevice(0);
  auto stream = *device->stream();
  void *library = dlopen(HOCKET_FAKE_BLASLT, RTLD_NOW | RTLD_NOLOAD);
  int &asked = *static_cast<int *>(dlsym(library, "fakeBlasLtAsked"));
  alignas(16) float a[20] = {}, b[20] = {}, c[20] = {};
  Gemm gemm{false, false, false, 4, 4, 4, 4, 4, 4};
  int before = asked;
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(device->gemm(*stream, gemm, {a, b, c}));
  EXPECT_EQ(asked, before + 1);
  ASSERT_TRUE(device->gemm(*stream, gemm, {a + 1, b, c})); // less aligned
  EXPECT_EQ(asked, before + 2);
  device->gemmWorkspace(c, 4); // other algorithms may be the best now
  ASSERT_TRUE(device->gemm(*stream, gemm, {a, b, c}));
  EXPECT_EQ(asked, before + 3);
  gemm.epilogue = GemmEpilogue::Bias;
  alignas(16) float bias[8] = {};
  ASSERT_TRUE(device->prepare(gemm, {a, b, c, bias}));
  EXPECT_EQ(asked, before + 4);
  ASSERT_TRUE(device->gemm(*stream, gemm, {a, b, c, bias}));
  ASSERT_TRUE(device->gemm(*stream, gemm, {a, b, c, bias + 4}));
  EXPECT_EQ(asked, before + 4);
  ASSERT_TRUE(device->gemm(*stream, gemm, {a, b, c, bias + 1}));
  EXPECT_EQ(asked, before + 5);
}

TEST(CudaDevice, SaysWhatCublasLtCannot) {
  auto device = makeDevice(0);
  auto stream = *device->stream();
  alignas(16) float a[9] = {}, b[9] = {}, c[9] = {}, before[9] = {};
  Gemm gemm{false, false, false, 3, 3, 3, 3, 3, 3};
  gemm.epilogue = GemmEpilogue::GeluGrad;
  EXPECT_EQ(lacking(device->prepare(gemm, {a, b, c, nullptr, before})),
            "product m 3 n 3 k 3 batch 1: cublasLt has no algorithm with 0 bytes of workspace and the epilogue DGELU; "
            "hocket compile --epilogues=none makes a program without epilogues");
}

TEST(CudaDevice, ProductsOfNothing) {
  auto device = makeDevice(0);
  auto stream = *device->stream();
  float c[] = {1, 2, 3, 4, 5, 6};
  Gemm gemm{false, false, true, 2, 2, 0, 1, 2, 3};
  ASSERT_TRUE(device->gemm(*stream, gemm, {nullptr, nullptr, c}));
  EXPECT_THAT(c, testing::ElementsAre(1, 2, 3, 4, 5, 6));
  gemm.accumulate = false;
  ASSERT_TRUE(device->gemm(*stream, gemm, {nullptr, nullptr, c}));
  EXPECT_THAT(c, testing::ElementsAre(0, 0, 3, 0, 0, 6));
  gemm.m = 0;
  EXPECT_TRUE(device->gemm(*stream, gemm, {}));
  gemm.epilogue = GemmEpilogue::SumA;
  EXPECT_EQ(device->gemm(*stream, gemm, {}).error().message, "an empty product has no epilogue");
}

} // namespace
