// Errors of the runtime are values, passed up with context; only a main exits. (std::expected is C++23.)
//
//   Result<Region> made = Region::create(spec);
//   if (!made)
//     return std::move(made.error()).in("rank 3");     // "rank 3: cannot create …"
//   use(*made);
#ifndef HOCKET_RUNTIME_PROGRAM_RESULT_H
#define HOCKET_RUNTIME_PROGRAM_RESULT_H

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hocket::runtime {

enum class ErrorKind {
  Invalid,  // the input or the caller is at fault (exit status 1)
  Lacking,  // this machine lacks something (exit status 4)
  Mismatch, // ranks disagree about what they do together
  Timeout,  // a deadline passed; `ranks` names who was missing
  Aborted,  // another rank or the launcher ended the run
};

// What went wrong: a message in lower case without a period, and the world ranks it is about (missing or disagreeing).
struct Error {
  ErrorKind kind = ErrorKind::Invalid;
  std::string message;
  std::vector<int> ranks;

  // The same error with "context: " before its message.
  Error in(std::string_view context) && {
    message.insert(0, ": ").insert(0, context);
    return std::move(*this);
  }
};

inline Error invalid(std::string message) { return {ErrorKind::Invalid, std::move(message), {}}; }

// A T or an Error. Dereferencing an error, or asking a value for its error, is a fault of the caller.
template <class T> class [[nodiscard]] Result {
public:
  Result(T value) : content(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return content.index() == 0; }
  T &operator*() & { return std::get<0>(content); }
  T &&operator*() && { return std::get<0>(std::move(content)); }
  const T &operator*() const & { return std::get<0>(content); }
  T *operator->() { return &std::get<0>(content); }
  const T *operator->() const { return &std::get<0>(content); }
  Error &error() { return std::get<1>(content); }
  const Error &error() const { return std::get<1>(content); }

private:
  std::variant<T, Error> content;
};

// Nothing, or an Error.
class [[nodiscard]] Status : public Result<std::monostate> {
public:
  Status() : Result(std::monostate{}) {}
  Status(Error error) : Result(std::move(error)) {}
};

} // namespace hocket::runtime
#endif
