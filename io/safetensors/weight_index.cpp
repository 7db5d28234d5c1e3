#include "io/safetensors/weight_index.hpp"

#include <fmt/core.h>

#include <utility>

#include "io/safetensors/json_events.hpp"

namespace spillway {
namespace {

// An IndexEvents reads weight_map, and skips all other keys of an index.
class IndexEvents : public JsonEvents {
 public:
  IndexEvents(std::string const& source, WeightIndex& index)
      : JsonEvents(source), m_source(source), m_index(index) {}

  void require_map() const {
    if (!m_has_map) fail("has no weight_map");
  }

  bool start_object(std::size_t elements) override {
    if (m_depth > 0 && !skips() && !begins_map()) return JsonEvents::start_object(elements);
    m_has_map = m_has_map || begins_map();
    ++m_depth;
    return true;
  }
  bool end_object() override { return leave(); }

  bool key(std::string& value) override {
    if (m_depth == 1) {
      if (value == kMap && m_has_map) fail("has its weight_map twice");
      m_field = std::move(value);
    } else if (!skips()) {
      require_plain_name(value, m_source);
      m_tensor = std::move(value);
    }
    return true;
  }

  bool string(std::string& value) override {
    if (skips()) return true;
    if (m_depth != 2) return JsonEvents::string(value);
    if (!is_file_name(value)) fail("is in no file of this directory: the index has a path for it");
    if (!m_index.files.emplace(m_tensor, std::move(value)).second) fail("is named twice");
    return true;
  }

  bool null() override { return skips() || JsonEvents::null(); }
  bool boolean(bool value) override { return skips() || JsonEvents::boolean(value); }
  bool number_integer(std::int64_t value) override {
    return skips() || JsonEvents::number_integer(value);
  }
  bool number_unsigned(std::uint64_t value) override {
    return skips() || JsonEvents::number_unsigned(value);
  }
  bool number_float(double value, std::string const& text) override {
    return skips() || JsonEvents::number_float(value, text);
  }
  bool start_array(std::size_t elements) override {
    if (!skips()) return JsonEvents::start_array(elements);
    ++m_depth;
    return true;
  }
  bool end_array() override { return leave(); }

 private:
  static constexpr char const* kMap = "weight_map";

  std::string subject() const override { return skips() ? "" : m_tensor; }
  bool skips() const { return m_depth > 0 && m_field != kMap; }
  bool begins_map() const { return m_depth == 1 && m_field == kMap; }
  bool leave() {
    if (--m_depth == 1) m_tensor.clear();
    return true;
  }

  static bool is_file_name(std::string const& text) {
    bool plain = !text.empty() && text.size() < 256 && text != "." && text != "..";
    for (unsigned char const c : text) plain = plain && c >= ' ' && c != 127 && c != '/';
    return plain;
  }

  std::string const& m_source;
  WeightIndex& m_index;
  std::int64_t m_depth = 0;
  bool m_has_map = false;
  std::string m_field, m_tensor;
};

}  // namespace

WeightIndex parse_index(std::string_view json, std::string const& source) {
  WeightIndex index;
  IndexEvents events(source, index);
  events.read(json);
  events.require_map();
  return index;
}

std::string index_text(WeightIndex const& index) {
  nlohmann::ordered_json const json = {{"metadata", {{"total_size", index.total_bytes}}},
                                       {"weight_map", index.files}};
  return json.dump(2) + '\n';
}

std::string shard_file(std::size_t number, std::size_t count) {
  return fmt::format("model-{:05}-of-{:05}.safetensors", number, count);
}

}  // namespace spillway
