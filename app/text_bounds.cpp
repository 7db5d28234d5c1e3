#include "app/text_bounds.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "base/log.hpp"
#include "huggingface/model_directory.hpp"
#include "huggingface/special_ids.hpp"

namespace spillway {
namespace {

bool is_given(std::string_view key, std::span<std::string const> overrides) {
  return std::ranges::any_of(overrides, [&](std::string const& word) {
    return std::string_view(word).substr(0, word.find('=')) == key;
  });
}

TextBounds bounds_in_files(Resumption const& start, Config const& config, Recipe const& recipe,
                           std::span<std::string const> overrides) {
  TextBounds bounds{recipe.ids.pad, {}};
  if (recipe.ids.eos >= 0) bounds.ends = {recipe.ids.eos};
  auto const found = files_of(start);
  for (auto const& why : found.unread)
    log_warning("{}; texts begin and end as the run says", why.what());
  bool const is_described = std::ranges::any_of(
      found.files, [](CarriedFile const& file) { return file.name == kConfigFile; });
  if (!is_described || !found.unread.empty()) return bounds;

  auto const files = start.model_files().last();
  auto const description = describe_directory(files);
  if (!is_given("data.eos_id", overrides)) {
    auto const ends = ends_of_texts(files, description, config.data);
    bounds.ends.assign(ends.begin(), ends.end());
  }
  auto const ids = read_generation_ids(files, description.model.vocab);
  if (!is_given("data.pad_id", overrides))
    bounds.start = static_cast<std::int32_t>(ids.start.value_or(bounds.start));
  if (!ids.not_followed.empty())
    log_warning("{}: keys of its generation_config.json that are not followed here: {}",
                start.checkpoint.string(), fmt::join(ids.not_followed, ", "));
  return bounds;
}

}  // namespace

TextBounds text_bounds(Resumption const& start, Config const& config, Recipe const& recipe,
                       std::span<std::string const> overrides,
                       std::span<std::int32_t const> ends_of_answers) {
  auto bounds = bounds_in_files(start, config, recipe, overrides);
  if (!is_given("data.eos_id", overrides))
    bounds.ends.insert(bounds.ends.end(), ends_of_answers.begin(), ends_of_answers.end());
  return bounds;
}

}  // namespace spillway
