#include "io/safetensors/header_events.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/error.hpp"
#include "io/safetensors/json_events.hpp"

namespace spillway {
namespace {

constexpr std::array kFields = {"dtype", "shape", "data_offsets"};

// A HeaderEvents reads a header's JSON and checks that every value is where it must be and comes
// only once. It does not compare numbers with each other.
class HeaderEvents : public JsonEvents {
 public:
  HeaderEvents(std::string const& source, SafetensorsHeader& header)
      : JsonEvents(source), m_source(source), m_header(header) {}

  bool start_object(std::size_t elements) override {
    if (m_level == Level::outside) {
      m_level = Level::header;
    } else if (m_level == Level::header) {
      m_level = m_key == kMetadata ? Level::metadata : Level::tensor;
      m_fields.clear();
      m_tensor = {};
      m_tensor.entry.name = m_key;
    } else {
      return JsonEvents::start_object(elements);
    }
    return true;
  }

  bool key(std::string& value) override {
    if (m_level == Level::header) return begin_entry(value);
    if (m_level == Level::tensor && std::ranges::count(kFields, value) == 0)
      fail("has more than dtype, shape and data_offsets");
    if (!m_fields.insert(value).second)
      fail(m_level == Level::tensor ? fmt::format("has its {} twice", value) : "has a key twice");
    m_field = std::move(value);
    return true;
  }

  bool string(std::string& value) override {
    if (m_level == Level::metadata) {
      m_header.metadata.emplace(m_field, std::move(value));
      return true;
    }
    if (m_level != Level::tensor || m_field != "dtype") return JsonEvents::string(value);
    auto const type = element_type(value);
    if (!type) refuse_type(value);
    m_tensor.entry.type = *type;
    return true;
  }

  bool start_array(std::size_t elements) override {
    if (m_level != Level::tensor || (m_field != "shape" && m_field != "data_offsets"))
      return JsonEvents::start_array(elements);
    m_level = Level::numbers;
    m_numbers.clear();
    return true;
  }

  bool number_unsigned(std::uint64_t value) override {
    if (m_level != Level::numbers) return JsonEvents::number_unsigned(value);
    if (value > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
      fail(fmt::format("{} is impossible", value));
    m_numbers.push_back(static_cast<std::int64_t>(value));
    return true;
  }

  bool end_array() override {
    m_level = Level::tensor;
    if (m_field == "shape") {
      m_tensor.entry.shape = m_numbers;
      return true;
    }
    if (m_numbers.size() != 2) fail("has data_offsets that are not two numbers");
    std::tie(m_tensor.begin_bytes, m_tensor.end_bytes) = std::pair(m_numbers[0], m_numbers[1]);
    return true;
  }

  bool end_object() override {
    if (m_level == Level::tensor) end_tensor();
    m_level = m_level == Level::header ? Level::outside : Level::header;
    m_key.clear();
    return true;
  }

 private:
  enum class Level : std::uint8_t { outside, header, tensor, numbers, metadata };

  std::string subject() const override { return m_key; }

  bool begin_entry(std::string& name) {
    require_plain_name(name, m_source);
    m_key = std::move(name);
    if (!m_names.insert(m_key).second) fail("is named twice");
    return true;
  }

  [[noreturn]] void refuse_type(std::string const& value) const {
    auto const text = value.substr(0, 16);
    bool const plain = std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; });
    throw Error(Status::bad_input,
                fmt::format("{}: {}: is of {}, which this program does not know", m_source, m_key,
                            plain ? text : "an impossible dtype"));
  }

  void end_tensor() {
    for (auto const* const field : kFields)
      if (!m_fields.contains(field)) fail(fmt::format("has no {}", field));
    m_header.tensors.push_back(std::move(m_tensor));
  }

  std::string const& m_source;
  SafetensorsHeader& m_header;
  Level m_level = Level::outside;
  std::unordered_set<std::string> m_names;   // names of all entries so far
  std::unordered_set<std::string> m_fields;  // keys so far in the current entry
  std::string m_key, m_field;
  PlacedTensor m_tensor;
  std::vector<std::int64_t> m_numbers;
};

}  // namespace

SafetensorsHeader take_apart(std::string_view json, std::string const& source) {
  SafetensorsHeader header;
  HeaderEvents(source, header).read(json);
  return header;
}

}  // namespace spillway
