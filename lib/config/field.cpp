#include "config/field.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/units.hpp"
#include "config/expand.hpp"
#include "config/scalar.hpp"
#include "config/suggest.hpp"

namespace spillway {
namespace {

template <class Field, class T>
void store_in_bounds(Field const& field, T number, bool inside, Value const& value,
                     Place const& place) {
  if (!inside) refuse(place, fmt::format("{} is out of bounds: {}", value.text, field.form()));
  field.at.set(number);
}

// Words lists the words that a value may be.
struct Words {
  std::vector<std::string_view> allowed;
  std::vector<std::string_view> divisible = {};  // may have a fraction, as in "nvme:0.5"
};

std::string pick(Words const& words, Value const& value, Place const& place) {
  auto const text = read_text(value, place);
  if (std::ranges::find(words.allowed, text) != words.allowed.end()) return text;
  auto const colon = std::min(text.find(':'), text.size());
  if (std::ranges::find(words.divisible, text.substr(0, colon)) != words.divisible.end()) {
    if (parse_fraction(std::string_view(text).substr(colon + 1))) return text;
    refuse(place, fmt::format("'{}' does not end with a fraction between 0 and 1", text));
  }
  auto const word = text.substr(0, colon);
  bool const has_fraction = colon < text.size() && !words.divisible.empty();
  if (has_fraction && std::ranges::find(words.allowed, word) != words.allowed.end())
    refuse(place,
           fmt::format("{} takes no fraction; {} do", word, fmt::join(words.divisible, ", ")));
  refuse(
      place,
      fmt::format("'{}' is not one of {}{}", text, fmt::join(words.allowed, " | "),
                  did_you_mean(nearest_word(text, {words.allowed.begin(), words.allowed.end()}))));
}

// Returns the items of a list, or any other value as the only item. Refuses an empty list.
std::vector<Value> listed(Value const& value, Place const& place) {
  if (value.kind != Value::Kind::list) return {value};
  if (value.items.empty()) refuse(place, "the list is empty");
  return value.items;
}

Words policy_words() {
  Words words{.allowed = {kAuto}};
  for (PolicyRow const& row : kPolicyTable) {
    words.allowed.push_back(row.name);
    if (row.away) words.divisible.push_back(row.name);
  }
  return words;
}

Words place_words(bool nvme) {
  Words words{.allowed = {kAuto}};
  for (Tier const tier : kTiersInOrder) {
    if (nvme || tier != Tier::nvme) words.allowed.push_back(name(tier));
  }
  return words;
}

Words shard_words() {
  Words words{.allowed = {kAuto}};
  for (Shard const shard : kShards) words.allowed.push_back(word(shard));
  return words;
}

// Reads one word, or a list of words. `parse` must read every word of `words` except "auto".
template <class T, class Parse>
Asked<T> read_asked(Words const& words, Value const& value, Place const& place, Parse parse) {
  Asked<T> asked;
  for (auto const& item : listed(value, place)) {
    auto const word = pick(words, item, place);
    asked.push_back(parse(word));
    if (!asked.back() && word != kAuto) throw std::logic_error("nobody parses " + word);
  }
  return asked;
}

// Writes one text as a scalar, and several as a list.
std::string write_list(std::vector<std::string> const& texts) {
  if (texts.size() == 1) return texts[0];
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string read_path(Value const& value, Place const& place) {
  auto const path = expand_home(expand_variables(read_text(value, place), place), place);
  if (path.empty()) refuse(place, "an empty path");
  return path;
}

std::string const kNone = "none";

bool is_word(Value const& value, std::string_view word) {
  return value.kind == Value::Kind::scalar && value.text == word;
}

bool is_none(Value const& value) {
  return is_word(value, kNone);
}

std::string write_path(std::string const& path) {
  return quoted_yaml(escape_variables(path));
}

// Reads an element such as {path: a.h5, weight: 3}. Returns its path and its weight.
std::pair<Value const*, double> weighted_path(Value const& value, Place const& place) {
  auto const *const path = value.find("path"), *const weight = value.find("weight");
  if (path == nullptr || weight == nullptr || value.entries.size() != 2)
    refuse(place, "an element with a weight is {path: P, weight: W}, and has nothing else");
  auto const number = read_real(*weight, place);
  if (!std::isfinite(number) || number <= 0)
    refuse(place, fmt::format("weight: {} is no number above 0", weight->text));
  return {path, number};
}

std::vector<std::string> written_paths(std::vector<std::string> const& paths) {
  std::vector<std::string> texts;
  std::ranges::transform(paths, std::back_inserter(texts), write_path);
  return texts;
}

}  // namespace

void IntegerField::read(Value const& value, Place const& place) const {
  auto const number = read_integer(value, place);
  store_in_bounds(*this, number, number >= min && number <= max, value, place);
}
std::string IntegerField::write() const {
  return fmt::format("{}", at.get());
}
std::string IntegerField::form() const {
  if (max == std::numeric_limits<std::int64_t>::max()) return fmt::format("integer >= {}", min);
  return fmt::format("integer, {} to {}", min, max);
}

void IntegersField::read(Value const& value, Place const& place) const {
  std::vector<std::int64_t> numbers;
  for (auto const& item : listed(value, place)) {
    std::int64_t number = 0;
    IntegerField{&number, min, max}.read(item, place);
    numbers.push_back(number);
  }
  *at = numbers;
}
std::string IntegersField::write() const {
  std::vector<std::string> texts;
  for (auto const number : *at) texts.push_back(fmt::format("{}", number));
  return write_list(texts);
}
std::string IntegersField::form() const {
  return fmt::format("list of integers, {} to {}", min, max);
}

void SeedField::read(Value const& value, Place const& place) const {
  *at = read_unsigned(value, place);
}
std::string SeedField::write() const {
  return fmt::format("{}", *at);
}
std::string SeedField::form() const {
  return "integer, 0 to 2^64 - 1";
}

void RealField::read(Value const& value, Place const& place) const {
  auto const number = read_real(value, place);
  bool const inside =
      excludes_bounds ? number > min && number < max : number >= min && number <= max;
  store_in_bounds(*this, number, inside, value, place);
}
std::string RealField::write() const {
  return fmt::format("{}", at.get());
}
std::string RealField::form() const {
  auto const* const sign = excludes_bounds ? "<" : "<=";
  if (std::isinf(max)) return fmt::format("number {} {}", excludes_bounds ? ">" : ">=", min);
  return fmt::format("number, {} {} x {} {}", min, sign, sign, max);
}

void BoolField::read(Value const& value, Place const& place) const {
  *at = read_bool(value, place);
}
std::string BoolField::write() const {
  return *at ? "true" : "false";
}
std::string BoolField::form() const {
  return "true | false";
}

void BytesField::read(Value const& value, Place const& place) const {
  if (has_none && is_none(value)) return at.set(0);
  auto const bytes = read_bytes(value, place);
  store_in_bounds(*this, bytes, bytes >= min && bytes <= max, value, place);
}
std::string BytesField::write() const {
  return has_none && at.get() == 0 ? kNone : format_bytes(at.get());
}
std::string BytesField::form() const {
  auto const size = fmt::format("size, {} to 1000PB", format_bytes(min));
  return has_none ? size + "; or none" : size;
}

void DurationField::read(Value const& value, Place const& place) const {
  if (has_auto && is_word(value, kAuto)) return at.set(0);
  auto const seconds = read_duration_s(value, place);
  store_in_bounds(*this, seconds, seconds > 0, value, place);
}
std::string DurationField::write() const {
  return has_auto && at.get() == 0 ? std::string(kAuto) : format_duration(at.get());
}
std::string DurationField::form() const {
  return has_auto ? "duration > 0s; or auto" : "duration > 0s";
}

void ChoiceField::read(Value const& value, Place const& place) const {
  m_set(pick({m_words}, value, place));
}
std::string ChoiceField::write() const {
  return std::string(m_get());
}
std::string ChoiceField::form() const {
  return fmt::format("{}", fmt::join(m_words, " | "));
}

void ActivationsField::read(Value const& value, Place const& place) const {
  *at = read_asked<BlockPlan>(policy_words(), value, place, parse_block_plan);
}
std::string ActivationsField::write() const {
  return write_list(texts(*at));
}
std::string ActivationsField::form() const {
  auto const words = policy_words();
  return fmt::format("{}, or a list; with a fraction ({}:0.5): {}", fmt::join(words.allowed, " | "),
                     words.divisible.front(), fmt::join(words.divisible, ", "));
}

void PlacesField::read(Value const& value, Place const& place) const {
  *at = read_asked<Tier>(place_words(nvme), value, place, parse_tier);
}
std::string PlacesField::write() const {
  return write_list(texts(*at));
}
std::string PlacesField::form() const {
  return fmt::format("{}, or a list", fmt::join(place_words(nvme).allowed, " | "));
}

void ShardsField::read(Value const& value, Place const& place) const {
  *at = read_asked<Shard>(shard_words(), value, place, parse_word<Shard>);
}
std::string ShardsField::write() const {
  return write_list(texts(*at));
}
std::string ShardsField::form() const {
  return fmt::format("{}, or a list", fmt::join(shard_words().allowed, " | "));
}

void PathField::read(Value const& value, Place const& place) const {
  at.set(read_path(value, place));
}
std::string PathField::write() const {
  return write_path(at.get());
}
std::string PathField::form() const {
  return "path";
}

void PathsField::read(Value const& value, Place const& place) const {
  std::vector<std::string> paths;
  if (!is_none(value)) {
    for (auto const& item : listed(value, place)) {
      if (is_none(item) || is_word(item, kAuto))
        refuse(place, fmt::format("'{}' in a list of directories", item.text));
      auto path = read_path(item, place);
      if (std::ranges::find(paths, path) != paths.end())
        refuse(place, fmt::format("{} is there twice; name one directory on each drive", path));
      paths.push_back(std::move(path));
    }
  }
  *at = paths;
}
std::string PathsField::write() const {
  auto const paths = at->value_or(std::vector<std::string>());
  return paths.empty() ? kNone : write_list(written_paths(paths));
}
std::string PathsField::form() const {
  return "path, or a list; or none";
}

void GlobsField::read(Value const& value, Place const& place) const {
  std::vector<std::string> globs;
  std::vector<double> given;
  bool has_weights = false;
  for (auto const& item : listed(value, place)) {
    bool const is_map = item.kind == Value::Kind::map;
    if (is_map && weights == nullptr) refuse(place, "has no weights; give paths alone");
    auto const [path, weight] = is_map ? weighted_path(item, place) : std::pair(&item, 1.0);
    globs.push_back(read_path(*path, place));
    given.push_back(weight);
    has_weights = has_weights || is_map;
  }
  *at = globs;
  if (weights != nullptr) *weights = has_weights ? given : std::vector<double>();
}
std::string GlobsField::write() const {
  auto texts = written_paths(*at);
  if (weights == nullptr || weights->empty()) return write_list(texts);
  for (std::size_t i = 0; i < texts.size(); ++i)
    texts[i] = fmt::format("{{path: {}, weight: {}}}", texts[i], (*weights)[i]);
  return fmt::format("[{}]", fmt::join(texts, ", "));
}
std::string GlobsField::form() const {
  auto const* const form = "path with wildcards, or a list";
  return weights == nullptr ? form : fmt::format("{}, also of {{path: P, weight: W}}", form);
}

void TextsField::read(Value const& value, Place const& place) const {
  std::vector<std::string> texts;
  for (auto const& item : listed(value, place)) {
    auto text = read_text(item, place);
    if (text.empty()) refuse(place, fmt::format("an empty text is no {}", what));
    if (std::ranges::count(texts, text) > 0) refuse(place, fmt::format("{} is there twice", text));
    texts.push_back(std::move(text));
  }
  *at = texts;
}
std::string TextsField::write() const {
  std::vector<std::string> texts;
  std::ranges::transform(*at, std::back_inserter(texts), quoted_yaml);
  return write_list(texts);
}
std::string TextsField::form() const {
  return fmt::format("{}, or a list", what);
}

void NumberedNameField::read(Value const& value, Place const& place) const {
  auto const text = read_text(value, place);
  auto const colon = std::min(text.find(':'), text.size());
  auto const number = text.substr(std::min(colon + 1, text.size()));
  bool const is_word = std::ranges::find(words, text) != words.end();
  bool const known = std::ranges::find(names, text.substr(0, colon)) != names.end();
  bool const digits = !number.empty() && number.find_first_not_of("0123456789") == number.npos;
  bool const fits = number.size() <= std::numeric_limits<std::int64_t>::digits10;
  if (!is_word && !(known && digits && fits)) {
    refuse(place, fmt::format("'{}' is not one of {}", text, form()));
  }
  *at = text;
}
std::string NumberedNameField::write() const {
  return *at;
}
std::string NumberedNameField::form() const {
  auto const plain = words.empty() ? "" : fmt::format("{} | ", fmt::join(words, " | "));
  return plain + fmt::format("{}:N", fmt::join(names, ":N | "));
}

}  // namespace spillway
