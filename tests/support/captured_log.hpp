// What the program says to its user, kept for comparison.
#pragma once

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <sstream>
#include <string>

namespace spillway::test {

// While it lives, log lines come here as "warning: text" instead of to stderr.
class CapturedLog {
 public:
  CapturedLog() {
    auto const sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(m_text);
    sink->set_pattern("%l: %v");
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink));
  }
  ~CapturedLog() { spdlog::set_default_logger(m_before); }
  CapturedLog(CapturedLog const&) = delete;
  CapturedLog& operator=(CapturedLog const&) = delete;

  // What has been said since the last call.
  std::string taken() {
    auto text = m_text.str();
    m_text.str("");
    return text;
  }

 private:
  std::shared_ptr<spdlog::logger> m_before = spdlog::default_logger();
  std::ostringstream m_text;
};

}  // namespace spillway::test
