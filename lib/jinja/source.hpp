// Says what is wrong with a template, and where.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "base/one_line.hpp"

namespace spillway::jinja {

// Says what is not understood, or what went wrong, in line `line` of a template.
[[noreturn]] inline void refuse(std::string const& path, std::int64_t line,
                                std::string const& why) {
  throw Error(Status::bad_input, fmt::format("{}:{}: {}", path, line, one_line(why)));
}

}  // namespace spillway::jinja
