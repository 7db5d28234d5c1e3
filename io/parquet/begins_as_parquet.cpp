#include <fmt/core.h>

#include <span>
#include <string>

#include "base/error.hpp"
#include "base/error_text.hpp"
#include "io/file/file.hpp"
#include "io/parquet/parquet.hpp"
#include "io/texts/input_kind.hpp"

namespace spillway {

bool begins_as_parquet(std::filesystem::path const& path) {
  auto const file = open_for_reading(path);
  std::string beginning(kMagicBytes, '\0');
  auto const got = read_fully(file.get(), std::as_writable_bytes(std::span(beginning)), 0);
  if (got.error != 0)
    throw Error(Status::bad_input,
                fmt::format("{}: cannot be read: {}", path.string(), error_text(got.error)));
  beginning.resize(static_cast<std::size_t>(got.done_bytes));
  return is_parquet(beginning);
}

}  // namespace spillway
