// Libraries of NVIDIA that are opened at run time: a program starts on every machine, and says what is missing when it
// needs it. A table of functions is a struct of pointers, made from a list X(field, symbol, function type).
#ifndef HOCKET_RUNTIME_DEVICE_CUDA_LIBRARY_H
#define HOCKET_RUNTIME_DEVICE_CUDA_LIBRARY_H

#include "runtime/Program/Result.h"
#include <span>
#include <string_view>
#include <type_traits>

namespace hocket::runtime::cuda {

struct Symbol {
  const char *name;
  void **place;
};

// Opens the first of `files` that is there and looks up all symbols. Lacking with `what` ("the NVIDIA driver"), why,
// and `need` ("a driver for CUDA 12.0 or later"); of symbols, every one that is missing.
Status openLibrary(std::span<const char *const> files, std::span<const Symbol> symbols, std::string_view what,
                   std::string_view need);

#define HOCKET_FIELD(field, symbol, ...) std::add_pointer_t<__VA_ARGS__> field = nullptr;
#define HOCKET_SYMBOL(field, symbol, ...) {symbol, reinterpret_cast<void **>(&table.field)},
#define HOCKET_NAME(field, symbol, ...) symbol,

} // namespace hocket::runtime::cuda
#endif
