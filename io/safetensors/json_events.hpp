// A JSON text as events, of which everything is refused that a reader does not expect: so a text of
// a stranger takes no more memory than its reader keeps of it. Only for this folder's sources.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace spillway {

// A reader overrides what it expects; it may throw.
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  // `source` begins every message.
  explicit JsonEvents(std::string source);

  // Reads all of a text. Throws Error(damaged) where it is not JSON or has what is not expected.
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
  // Throws Error(damaged).
  [[noreturn]] void fail(std::string const& why) const;
  // Says what the reader is at, for messages: a tensor's name, or nothing.
  virtual std::string subject() const { return ""; }

 private:
  bool unexpected(char const* what) const;

  std::string m_source;
};

// The name of a tensor, which becomes part of messages. Throws Error(damaged) that begins with
// `source` for an empty or a very long one, or one with control characters.
void require_plain_name(std::string const& name, std::string const& source);

}  // namespace spillway
