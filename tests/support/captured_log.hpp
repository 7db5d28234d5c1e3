// Captures what the program logs for its user, so that tests can compare it.
#pragma once

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <sstream>
#include <string>

namespace spillway::test {

// While this object lives, log lines are kept here as "warning: text" and do not go to stderr.
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

  // Returns all that was logged since the last call.
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
