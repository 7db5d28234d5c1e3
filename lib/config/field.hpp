// Defines one class for each kind of value that a key may have. An object points to a value of one
// Config: read() sets it from YAML and refuses what is of another kind or out of bounds, write()
// returns YAML from which read() sets an equal value, and form() describes kind and bounds in
// words. For keys that may be unset, has_value() tells whether the value is set, and clear() unsets
// it.
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

// Points to a value that may be unset: a std::optional, or a T that is unset if it equals T{} and
// its key has a word for that, such as "auto".
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

// Reads an integer for each rank, or one integer.
struct IntegersField {
  std::vector<std::int64_t>* at;
  std::int64_t min = 0, max = std::numeric_limits<std::int64_t>::max();

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
  bool has_value() const { return !at->empty(); }
  void clear() const { at->clear(); }
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
  bool excludes_bounds = false;  // whether the bounds themselves are excluded

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
  // The bound is 1000 PB, so that a few such numbers can be added without overflow.
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

// A ChoiceField has the word of an enumerator, or `auto` for a std::optional that is empty.
class ChoiceField {
 public:
  template <class E>
  requires std::is_enum_v<E>
  explicit ChoiceField(E* at)
      : m_words(kWords<E>.begin(), kWords<E>.end()),
        m_set([at](auto text) { *at = parse_word<E>(text).value(); }),
        m_get([at] { return word(*at); }) {}
  // `order` has all words in the order in which the documentation lists them.
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
  std::function<void(std::string_view)> m_set;  // is called with one of m_words
  std::function<std::string_view()> m_get;
};

// ActivationsField, PlacesField and ShardsField read one word, or a list with a word for each layer
// or chunk.
// The last word of a list also holds for all later layers or chunks.
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

struct ShardsField {
  Asked<Shard>* at;

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
};

struct PathField {
  Slot<std::string> at;

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
  bool has_value() const { return at.has_value(); }
  void clear() const { at.clear(); }
};

// Reads one path, or a list of different paths, or "none", which means {}.
struct PathsField {
  static constexpr bool has_none = true;
  std::optional<std::vector<std::string>>* at;

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
  bool has_value() const { return at->has_value(); }
  void clear() const { at->reset(); }
};

// Reads one path with wildcards, or a list of such paths. Where `weights` is not null, an element
// of the list may have a weight; then all have one, which is 1 unless it is said.
struct GlobsField {
  std::vector<std::string>* at;
  std::vector<double>* weights = nullptr;

  void read(Value const& value, Place const& place) const;
  std::string write() const;
  std::string form() const;
  bool has_value() const { return !at->empty(); }
  void clear() const {
    at->clear();
    if (weights != nullptr) weights->clear();
  }
};

// Reads one text, or a list of different texts.
struct TextsField {
  std::vector<std::string>* at;
  std::string_view what;  // says in words what a text is

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

using Field = std::variant<IntegerField, IntegersField, SeedField, RealField, BoolField, BytesField,
                           DurationField, ChoiceField, ActivationsField, PlacesField, ShardsField,
                           PathField, PathsField, GlobsField, TextsField, NumberedNameField>;

}  // namespace spillway
