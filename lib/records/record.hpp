// A Record is a line of a .jsonl file or an element of a .json file: an object with named fields,
// or a text alone.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace spillway {

// Says where a record stands, for messages.
struct RecordOrigin {
  std::string const& path;
  std::int64_t line;  // 0 if there are no lines
};

class Record {
 public:
  using Json = nlohmann::ordered_json;

  // Bytes of `json` that are no UTF-8 are taken for U+FFFD. Throws Error(bad_input) that names file
  // and line if it is no JSON, or neither an object nor a text.
  Record(std::string_view json, RecordOrigin origin);

  Json const& json() const { return m_json; }
  // Returns whether the record has the field, whatever its value.
  bool has(std::string const& field) const { return m_json.is_object() && m_json.contains(field); }
  // Returns the value of a field. Throws Error(bad_input) that lists the fields there are if it is
  // missing.
  Json const& at(std::string const& field) const;
  // Returns a field's text. Throws also if it is no text.
  std::string const& text(std::string const& field) const;

  // Throws Error(bad_input) that begins with file and line.
  [[noreturn]] void refuse(std::string const& why) const;
  // Returns the names of the fields, for a message.
  std::string fields() const;

 private:
  RecordOrigin m_origin;
  Json m_json;
};

}  // namespace spillway
