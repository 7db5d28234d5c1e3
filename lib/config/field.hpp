// Defines the kinds of values that a key may have. Each kind points into one Config, reads a YAML
// value into it, and refuses a value of another kind or out of bounds. It also writes the value
// back as YAML that reads to the same, and describes its type and bounds in words. The `word` of a
// key ("auto", "none") stands for "not set".
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.hpp"
#include "config/choices.hpp"
#include "config/config.hpp"
#include "config/place.hpp"
#include "config/value.hpp"

namespace spillway {

// Points to a value that may be unset: an optional, or a plain T, whose zero means unset if its key
// has a word for that.
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
  bool open = false;  // whether the bounds themselves are excluded

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
  // The limit is 1000 PB, so that a few such numbers can be added without overflow.
  static constexpr std::int64_t max = 1'000'000'000'000'000'000;

  Slot<std::int64_t> at;
  std::int64_t min = 0;
  bool has_none = false;  // whether "none" is allowed and means 0

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
  bool has_value() const { return at.has_value(); }
  void clear() const { at.clear(); }
};

struct DurationField {
  Slot<double> at;
  bool has_auto = false;  // whether "auto" is allowed and means 0

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
  bool has_value() const { return at.has_value(); }
  void clear() const { at.clear(); }
};

// A field whose value is a word of an enum. If it points to a std::optional, `auto` is a word, too.
class ChoiceField {
 public:
  template <class E>
  requires std::is_enum_v<E>
  explicit ChoiceField(E* at)
      : m_words(kWords<E>.begin(), kWords<E>.end()),
        m_set([at](auto text) { *at = parse_word<E>(text).value(); }),
        m_get([at] { return word(*at); }) {}
  // The documentation lists the words in this order.
  template <class E>
  ChoiceField(E* at, std::initializer_list<E> order) : ChoiceField(at) {
    check(order.size() == m_words.size(), "a choice", "is documented without some of its words");
    std::ranges::transform(order, m_words.begin(), [](E value) { return word(value); });
  }
  template <class E>
  explicit ChoiceField(std::optional<E>* at)
      : m_words(kWords<E>.begin(), kWords<E>.end()),
        m_set([at](auto text) { *at = parse_word<E>(text); }),
        m_get([at] { return word(*at); }) {
    m_words.insert(m_words.begin(), kAuto);
  }

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;

 private:
  std::vector<std::string_view> m_words;
  std::function<void(std::string_view)> m_set;  // takes one of the words
  std::function<std::string_view()> m_get;
};

// Reads one word, or a list with a word per layer or chunk, the last of which repeats.
struct ActivationsField {
  Asked<BlockPlan>* at;

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
};
struct PlacesField {
  Asked<Tier>* at;
  bool nvme = false;  // whether nvme is allowed

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
};

struct PathField {
  Slot<std::string> at;
  bool has_none = false;  // whether "none" is allowed and means ""

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
  bool has_value() const { return at.has_value(); }
  void clear() const { at.clear(); }
};

// Reads one path with wildcards, or a list of such paths.
struct GlobsField {
  std::vector<std::string>* at;

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
  bool has_value() const { return !at->empty(); }
  void clear() const { at->clear(); }
};

// Reads one of `names` with a number, as in "storage-read:3", or one of `words` as it is.
struct NumberedNameField {
  std::string* at;
  std::string_view unset;  // the word that stands for "not set"
  std::vector<std::string_view> names, words = {};

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
