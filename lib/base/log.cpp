#include "base/log.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/standard_streams.hpp"
#include "base/warnings.hpp"

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

// What was written since a LinesOnce began to live; no value if none lives.
std::optional<std::set<std::string, std::less<>>> written;

class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
  void sink_it_(spdlog::details::log_msg const& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    say({line.data(), line.size()});
  }
  void flush_() override {}
};

}  // namespace

void set_up_log(bool speaks) {
  auto logger = std::make_shared<spdlog::logger>("spillway", std::make_shared<StderrSink>());
  logger->set_error_handler([](std::string const&) {});  // spdlog's own handler writes to stderr
  logger->set_pattern("spillway: %l: %v");
  logger->set_level(speaks ? spdlog::level::info : spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
}

LinesOnce::LinesOnce() {
  written.emplace();
}

LinesOnce::~LinesOnce() {
  written.reset();
}

void write_log(LogLevel level, std::string_view line) {
  if (written && !written->emplace(line).second) return;
  if (level == LogLevel::warning) keep_warning(line);
  spdlog::default_logger_raw()->log(level_of(level), line);
}

}  // namespace spillway
