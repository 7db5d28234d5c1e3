// The kinds of values a key may have. Each points into one Config, reads a YAML value into it
// (refusing what is no such value or out of bounds), writes it back as YAML that reads to the same,
// and says its type and bounds in words. `word` ("auto", "none") stands for "not set".
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "config/config.hpp"
#include "config/place.hpp"
#include "config/value.hpp"

namespace spillway {

// A value that may be unset: an optional, or a plain T whose zero means unset where a word says
// so.
template <class T>
class Slot {
 public:
  Slot(T* at) : m_at(at) {}
  Slot(std::optional<T>* at) : m_at(at) {}

  bool has_value() const {
    auto const* const plain = std::get_if<T*>(&m_at);
    return plain ? **plain != T{} : std::get<1>(m_at)->has_value();
  }
  T get() const {
    auto const* const plain = std::get_if<T*>(&m_at);
    return plain ? **plain : std::get<1>(m_at)->value_or(T{});
  }
  void set(T value) const {
    std::visit([&](auto* at) { *at = std::move(value); }, m_at);
  }
  void clear() const {
    if (auto const* const plain = std::get_if<T*>(&m_at)) {
      **plain = T{};
    } else {
      std::get<1>(m_at)->reset();
    }
  }

 private:
  std::variant<T*, std::optional<T>*> m_at;
};

struct IntegerField {
  Slot<std::int64_t> at;
  std::int64_t min = 0, max = std::numeric_limits<std::int64_t>::max();

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
  bool has_value() const { return at.has_value(); }
  void clear() const { at.clear(); }
};

struct SeedField {
  std::uint64_t* at;

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
};

struct RealField {
  Slot<double> at;
  double min = 0, max = std::numeric_limits<double>::infinity();
  bool open = false;  // the bounds themselves are excluded

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
  bool has_value() const { return at.has_value(); }
  void clear() const { at.clear(); }
};

struct BoolField {
  bool* at;

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
};

struct BytesField {
  static constexpr std::int64_t max = 1'000'000'000'000'000'000;  // 1000PB: a few of them add up

  Slot<std::int64_t> at;
  std::int64_t min = 0;
  bool has_none = false;  // "none" is a value: 0

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
  bool has_value() const { return at.has_value(); }
  void clear() const { at.clear(); }
};

struct DurationField {
  Slot<double> at;
  bool has_auto = false;  // "auto" is a value: 0

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
  bool has_value() const { return at.has_value(); }
  void clear() const { at.clear(); }
};

// The words a value may be, and those that a later version will know ("nvme:" is any "nvme:...").
struct Words {
  std::vector<std::string_view> allowed, later = {};
  std::vector<std::string_view> divisible = {};  // of `allowed`: may be followed by ":0.5"
};

struct ChoiceField {
  std::variant<std::string*, Precision*> at;  // for the enum, words are in its order
  Words words;

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
};

// One word or a list of words, one per layer or per chunk, the last one repeating.
struct ActivationsField {
  Asked<BlockPlan>* at;

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
};
struct PlacesField {
  Asked<Tier>* at;
  bool nvme = false;  // may be among them

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
};

struct PathField {
  Slot<std::string> at;
  bool has_none = false;  // "none" is a value: ""

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
  bool has_value() const { return at.has_value(); }
  void clear() const { at.clear(); }
};

// One path with wildcards, or a list of them.
struct GlobsField {
  std::vector<std::string>* at;

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
  bool has_value() const { return !at->empty(); }
  void clear() const { at->clear(); }
};

// One of `names` and a number: "storage-read:3".
struct NumberedNameField {
  std::string* at;
  std::string_view unset;  // the text that means none
  std::vector<std::string_view> names;

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
  bool has_value() const { return *at != unset; }
  void clear() const { *at = unset; }
};

using Field = std::variant<IntegerField, SeedField, RealField, BoolField, BytesField, DurationField,
                           ChoiceField, ActivationsField, PlacesField, PathField, GlobsField,
                           NumberedNameField>;

}  // namespace spillway
