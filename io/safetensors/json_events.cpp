#include "io/safetensors/json_events.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace spillway {

JsonEvents::JsonEvents(std::string source) : m_source(std::move(source)) {}

void JsonEvents::read(std::string_view text) {
  nlohmann::json::sax_parse(text.begin(), text.end(), this);
}

void JsonEvents::fail(std::string const& why) const {
  auto const about = subject();
  auto const separator = about.empty() ? "" : ": ";
  throw Error(Status::damaged, fmt::format("{}: {}{}{}", m_source, about, separator, why));
}

bool JsonEvents::unexpected(char const* what) const {
  fail(fmt::format("has {} where something else must be", what));
}

bool JsonEvents::null() {
  return unexpected("null");
}
bool JsonEvents::boolean(bool) {
  return unexpected("true or false");
}
bool JsonEvents::number_integer(std::int64_t) {
  return unexpected("a negative number");
}
bool JsonEvents::number_unsigned(std::uint64_t) {
  return unexpected("a number");
}
bool JsonEvents::number_float(double, std::string const&) {
  return unexpected("a number that is not whole, or too large,");
}
bool JsonEvents::string(std::string&) {
  return unexpected("a text");
}
bool JsonEvents::binary(nlohmann::json::binary_t&) {
  return unexpected("bytes");
}
bool JsonEvents::start_object(std::size_t) {
  return unexpected("an object");
}
bool JsonEvents::key(std::string&) {
  return unexpected("a key");
}
bool JsonEvents::end_object() {
  return unexpected("the end of an object");
}
bool JsonEvents::start_array(std::size_t) {
  return unexpected("a list");
}
bool JsonEvents::end_array() {
  return unexpected("the end of a list");
}

// The JSON library's own message is not used, since it may repeat bytes of the file.
bool JsonEvents::parse_error(std::size_t position, std::string const&,
                             nlohmann::json::exception const&) {
  fail(fmt::format("is not JSON at byte {} of it", position));
}

void require_plain_name(std::string const& name, std::string const& source) {
  constexpr std::size_t most_bytes = 1024;
  bool const plain =
      !name.empty() && name.size() <= most_bytes &&
      std::ranges::none_of(name, [](unsigned char c) { return c < ' ' || c == 127; });
  if (!plain) throw Error(Status::damaged, source + ": a tensor has an impossible name");
}

}  // namespace spillway
