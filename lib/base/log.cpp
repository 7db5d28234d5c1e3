#include "base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace spillway {
namespace {

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      break;
  }
  return spdlog::level::err;
}

}  // namespace

void set_up_log(bool speaks) {
  auto logger = spdlog::stderr_logger_mt("spillway");
  logger->set_pattern("spillway: %l: %v");
  logger->set_level(speaks ? spdlog::level::info : spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
}

void write_log(LogLevel level, std::string_view line) {
  spdlog::default_logger_raw()->log(level_of(level), line);
}

}  // namespace spillway
