// A JsonEvents reads a JSON text as events and refuses those that its derived class does not
// expect, so that a hostile text takes no more memory than that class keeps. Only sources of this
// folder may include this file.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace spillway {

// A derived class overrides the functions of the events that it expects. These functions may throw.
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  // Every error message begins with `source`.
  explicit JsonEvents(std::string source);

  // Reads a whole text. Throws Error(damaged) if the text is not JSON or has an event that is not
  // expected, and what overridden functions throw.
  void read(std::string_view text);

  bool null() override;
  bool boolean(bool value) override;
  bool number_integer(std::int64_t value) override;
  bool number_unsigned(std::uint64_t value) override;
  bool number_float(double value, std::string const& text) override;
  bool string(std::string& value) override;
  bool binary(nlohmann::json::binary_t& value) override;
  bool start_object(std::size_t elements) override;
  bool key(std::string& value) override;
  bool end_object() override;
  bool start_array(std::size_t elements) override;
  bool end_array() override;
  bool parse_error(std::size_t position, std::string const& last_token,
                   nlohmann::json::exception const& error) override;

 protected:
  // Throws Error(damaged) with `source`, `subject()` and the reason.
  [[noreturn]] void fail(std::string const& why) const;
  // Returns the name of the tensor that is being read, for messages, or "" if there is none.
  virtual std::string subject() const { return ""; }

 private:
  bool unexpected(char const* what) const;

  std::string m_source;
};

// Checks a tensor's name, which becomes part of messages. Throws Error(damaged) that begins with
// `source` if the name is empty, is very long or has control characters.
void require_plain_name(std::string const& name, std::string const& source);

}  // namespace spillway
