#include "io/safetensors/header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "io/safetensors/json_events.hpp"

namespace spillway {
namespace {

constexpr char const* kMetadata = "__metadata__";
constexpr std::array kFields = {"dtype", "shape", "data_offsets"};

[[noreturn]] void fail_tensor(std::string const& source, PlacedTensor const& tensor,
                              std::string const& why, Status status = Status::damaged) {
  throw Error(status, fmt::format("{}: {}: {}", source, tensor.entry.name, why));
}

// Takes a header apart: what is where it must be, and nothing twice. What the numbers mean together
// is not looked at.
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
    fail_tensor(m_source, m_tensor,
                fmt::format("is of {}, which this program does not know",
                            plain ? text : "an impossible dtype"),
                Status::bad_input);
  }

  void end_tensor() {
    for (auto const* const field : kFields)
      if (!m_fields.contains(field)) fail(fmt::format("has no {}", field));
    m_header.tensors.push_back(std::move(m_tensor));
  }

  std::string const& m_source;
  SafetensorsHeader& m_header;
  Level m_level = Level::outside;
  std::unordered_set<std::string> m_names;   // of all tensors, and of __metadata__
  std::unordered_set<std::string> m_fields;  // of the tensor, or of __metadata__
  std::string m_key, m_field;
  PlacedTensor m_tensor;
  std::vector<std::int64_t> m_numbers;
};

// No longer than a message can bear.
std::string shape_text(std::vector<std::int64_t> const& shape) {
  constexpr std::size_t most_axes = 8;
  auto const begin = std::span(shape).first(std::min(shape.size(), most_axes));
  return fmt::format("[{}{}]", fmt::join(begin, ", "), shape.size() > most_axes ? ", ..." : "");
}

void require_size(PlacedTensor const& tensor, std::string const& source) {
  std::optional<std::int64_t> bytes = size_bytes(tensor.entry.type);
  for (auto const extent : tensor.entry.shape) bytes = bytes ? product({*bytes, extent}) : bytes;
  auto const shape = shape_text(tensor.entry.shape);
  if (!bytes)
    fail_tensor(source, tensor, fmt::format("has more elements than 63 bits count: {}", shape));
  if (tensor.begin_bytes > tensor.end_bytes) fail_tensor(source, tensor, "ends before it begins");
  if (tensor.end_bytes - tensor.begin_bytes != *bytes) {
    fail_tensor(
        source, tensor,
        fmt::format("has {} bytes, but {} of {} are {}", tensor.end_bytes - tensor.begin_bytes,
                    shape, name(tensor.entry.type), *bytes));
  }
}

// In the order of their bytes each begins where the last has ended, and the last one ends with the
// file.
void require_no_gap(SafetensorsHeader const& header, std::int64_t data_bytes,
                    std::string const& source) {
  PlacedTensor const* last = nullptr;
  std::int64_t end = 0;
  for (auto const& tensor : header.tensors) {
    if (tensor.end_bytes > data_bytes) {
      fail_tensor(
          source, tensor,
          fmt::format("ends {} bytes beyond the end of the file", tensor.end_bytes - data_bytes));
    }
    if (tensor.begin_bytes < end)
      fail_tensor(source, tensor, fmt::format("overlaps {}", last->entry.name));
    if (tensor.begin_bytes > end) {
      fail_tensor(source, tensor,
                  fmt::format("{} bytes before it belong to no tensor", tensor.begin_bytes - end));
    }
    end = tensor.end_bytes;
    last = &tensor;
  }
  if (end == data_bytes) return;
  throw Error(Status::damaged,
              fmt::format("{}: {} bytes at its end belong to no tensor", source, data_bytes - end));
}

}  // namespace

SafetensorsHeader parse_header(std::string_view json, std::int64_t data_bytes,
                               std::string const& source) {
  SafetensorsHeader header;
  HeaderEvents(source, header).read(json);
  for (auto const& tensor : header.tensors) require_size(tensor, source);
  std::ranges::sort(header.tensors, {}, [](PlacedTensor const& tensor) {
    return std::tuple(tensor.begin_bytes, tensor.end_bytes, std::string_view(tensor.entry.name));
  });
  require_no_gap(header, data_bytes, source);
  return header;
}

std::vector<PlacedTensor> placed(std::span<TensorEntry const> entries) {
  std::vector<PlacedTensor> tensors;
  std::int64_t end = 0;
  for (auto const& entry : entries) {
    auto const begin = std::exchange(end, end + size_bytes(entry));
    tensors.push_back({entry, begin, end});
  }
  return tensors;
}

std::string header_bytes(SafetensorsHeader const& header) {
  auto const quoted = [](std::string const& text) { return nlohmann::json(text).dump(); };
  auto text = fmt::format("{{\"{}\":{}", kMetadata, nlohmann::json(header.metadata).dump());
  for (auto const& [entry, begin, end] : header.tensors) {
    text +=
        fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                    quoted(entry.name), name(entry.type), fmt::join(entry.shape, ","), begin, end);
  }
  text += '}';
  while (text.size() % 8 != 0) text += ' ';
  std::string length(kLengthBytes, '\0');
  for (std::size_t i = 0; i < length.size(); ++i)
    length[i] = static_cast<char>(text.size() >> (8 * i) & 0xff);
  return length + text;
}

}  // namespace spillway
