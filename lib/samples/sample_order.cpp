#include "samples/sample_order.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/compact_json.hpp"
#include "base/error.hpp"

namespace spillway {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KnownFile, path, tokens, fingerprint)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KnownPart, files, share, windows)

namespace {

using Files = std::vector<KnownFile>;
using Json = nlohmann::json;

// The number of windows is written only if windows are not equally long (`counts`).
Json json_of(SampleRange const& range, bool counts) {
  Json json = {
      {"begin", range.begin}, {"epoch", range.epoch}, {"seed", range.seed}, {"files", range.files}};
  if (counts) json["windows"] = range.windows;
  if (!range.mix.empty()) json["mix"] = range.mix;
  return json;
}

SampleRange range_of(Json const& json) {
  return {json.at("begin"),
          json.at("epoch"),
          json.at("seed"),
          json.at("files"),
          json.value("windows", std::int64_t{0}),
          json.value("mix", std::vector<KnownPart>())};
}

SampleOrder order_of(Json const& json) {
  SampleOrder order{json.at("window"), {}, json.value("cut", "")};
  for (auto const& range : json.at("stretches")) order.ranges.push_back(range_of(range));
  return order;
}

SampleRange range_of(DataNow const& now, Files files, std::int64_t begin, std::int64_t epoch) {
  auto const windows = now.cut.empty() ? 0 : now.count(files);
  return {begin, epoch, now.seed, std::move(files), windows};
}

SampleRange whole_range(DataNow const& now, std::int64_t begin, std::int64_t epoch) {
  auto range = range_of(now, now.files, begin, epoch);
  range.mix = now.mix;
  return range;
}

// A text has a window if it has more tokens than this number.
std::int64_t tokens_to_exceed(DataNow const& now) {
  return now.cut.empty() ? now.window : 1;
}

std::int64_t tokens_of(Files const& files) {
  std::int64_t tokens = 0;
  for (auto const& file : files) tokens += file.tokens;
  return tokens;
}

// Returns the files of `files` that `others` lacks. A file that is listed twice counts twice.
Files without(Files const& files, Files others) {
  Files left;
  for (auto const& file : files) {
    if (auto const* found = find(others, file)) {
      others.erase(others.begin() + (found - others.data()));
    } else {
      left.push_back(file);
    }
  }
  return left;
}

std::string names(Files const& files) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(files.size(), most); ++i)
    text += fmt::format("{}{} ({} tokens)", i > 0 ? ", " : "", files[i].path, files[i].tokens);
  if (files.size() > most) text += fmt::format(" and {} more", files.size() - most);
  return text;
}

// Says which epoch is under way at a sample: `ranges[open]` has it, and its last sample comes
// before `end`. Between two epochs `between` is true, and `epoch` is the next one.
struct UnderWay {
  std::size_t open = 0;
  std::int64_t epoch = 0, end = 0;
  bool between = false;
};

// Returns the epoch in which range i ends. It must not be the last range.
std::int64_t last_epoch(SampleOrder const& order, std::size_t i) {
  auto const& range = order.ranges[i];
  auto const samples = order.ranges[i + 1].begin - range.begin;
  return range.epoch + (samples - 1) / order.windows(range);
}

// Returns how many epochs any part of a mix may have begun after `done` samples of it.
std::int64_t epochs_begun(SampleOrder const& order, SampleRange const& range, std::int64_t done) {
  std::int64_t block = 0, most = 0;
  for (auto const& part : range.mix) block += part.share;
  for (auto const& [share, windows] : order.parts(range))
    most = std::max(most, (done / block + 1) * share / windows);
  return most;
}

UnderWay under_way(SampleOrder const& order, std::int64_t samples) {
  auto const& ranges = order.ranges;
  auto const later = std::ranges::find_if(ranges, [&](auto const& s) { return s.begin > samples; });
  auto const open = static_cast<std::size_t>(later - ranges.begin()) - 1;
  auto const& range = ranges[open];
  auto const windows = order.windows(range), done = samples - range.begin;
  if (!range.mix.empty()) return {open, range.epoch + epochs_begun(order, range, done), 0, false};
  UnderWay found{open, range.epoch + done / windows, 0, done % windows == 0};
  found.end = range.begin + (done + windows - 1) / windows * windows;
  bool const completes = done == 0 && open > 0 && last_epoch(order, open - 1) == found.epoch;
  if (completes) {  // an earlier range has begun the epoch
    found.between = false;
    found.end = samples + windows;
  }
  return found;
}

bool same_windows(SampleOrder const& before, DataNow const& now) {
  return before.window == now.window && before.cut == now.cut;
}

// Returns the keys that may have changed how long windows are.
char const* key_of_windows(SampleOrder const& before, DataNow const& now) {
  if (before.cut.empty() && now.cut.empty()) return "data.sequence";
  if (before.cut.empty() || now.cut.empty()) return "data.pack";
  return "data.sequence, data.target or data.eos_id";
}

std::string windows_text(std::int64_t window, std::string const& cut) {
  return cut.empty() ? fmt::format("windows of {} tokens", window)
                     : fmt::format("windows of up to {} tokens {}", window, cut);
}

std::string shares_text(std::vector<KnownPart> const& mix) {
  if (mix.empty()) return "one text";
  std::vector<std::int64_t> shares;
  for (auto const& part : mix) shares.push_back(part.share);
  return fmt::format("{}", fmt::join(shares, " : "));
}

std::string what_differs(SampleOrder const& before, DataNow const& now) {
  auto const& last = before.ranges.back();
  auto const added = without(now.files, last.files), gone = without(last.files, now.files);
  std::vector<std::string> of_files, all;
  if (!added.empty())
    of_files.push_back(names(added) + (added.size() == 1 ? " is new" : " are new"));
  if (!gone.empty())
    of_files.push_back(names(gone) +
                       (gone.size() == 1 ? " is there no more" : " are there no more"));
  if (of_files.empty() && !same_files(last.files, now.files))
    of_files.push_back("the files are in another order");
  if (!of_files.empty()) all.push_back(fmt::format("data.train: {}", fmt::join(of_files, "; ")));
  if (last.mix != now.mix)
    all.push_back(fmt::format("data.train: its weights: {} -> {}", shares_text(last.mix),
                              shares_text(now.mix)));
  if (last.seed != now.seed) all.push_back(fmt::format("run.seed: {} -> {}", last.seed, now.seed));
  if (!same_windows(before, now))
    all.push_back(fmt::format("{}: {} -> {}", key_of_windows(before, now),
                              windows_text(before.window, before.cut),
                              windows_text(now.window, now.cut)));
  return fmt::format("{}", fmt::join(all, "; "));
}

[[noreturn]] void refuse(std::string const& why) {
  throw Error(Status::bad_input,
              why +
                  ", and the run is within an epoch; give back what it began with, or "
                  "data.changed=anew begins an epoch of the data as they are now");
}

bool is_mixed(SampleOrder const& before, UnderWay const& at, DataNow const& now) {
  return !before.ranges[at.open].mix.empty() || !now.mix.empty();
}

// Throws if the data are mixed, before or now.
void require_no_mix(SampleOrder const& before, UnderWay const& at, DataNow const& now) {
  if (!is_mixed(before, at, now)) return;
  throw Error(Status::bad_input,
              what_differs(before, now) +
                  ", and a mix has no epoch to be completed first; give back what the run began "
                  "with, or data.changed=anew goes on with the data as they are now");
}

// Throws if the epoch under way cannot be read to its end.
void require_rest(SampleOrder const& before, UnderWay const& at, DataNow const& now) {
  if (!same_windows(before, now))
    refuse(fmt::format("{}: {} have become {}", key_of_windows(before, now),
                       windows_text(before.window, before.cut), windows_text(now.window, now.cut)));
  for (auto const& file : before.ranges[at.open].files)
    if (find(now.files, file) == nullptr)
      refuse(fmt::format("data.train: {}, {} tokens, is there no more, or has other text",
                         file.path, file.tokens));
}

// Returns an order that completes the epoch under way, and then goes on with the data as they are
// now.
SampleOrder completed(SampleOrder const& before, UnderWay const& at, DataNow const& now) {
  SampleOrder order{now.window, {}, now.cut};
  Files in_epoch;
  for (std::size_t i = 0; i <= at.open; ++i) {
    if (i < at.open && last_epoch(before, i) != at.epoch) continue;
    auto const& range = before.ranges[i];
    order.ranges.push_back(range);
    in_epoch.insert(in_epoch.end(), range.files.begin(), range.files.end());
  }
  auto end = at.end;
  if (auto added = without(now.files, in_epoch); tokens_of(added) > tokens_to_exceed(now)) {
    auto range = range_of(now, std::move(added), end, at.epoch);
    end += order.windows(range);
    if (order.windows(range) > 0) order.ranges.push_back(std::move(range));
  }
  order.ranges.push_back(range_of(now, now.files, end, at.epoch + 1));
  return order;
}

// Replaces the path of each file with the one where it lies now.
SampleOrder with_paths(SampleOrder order, Files const& now) {
  for (auto& range : order.ranges)
    for (auto& file : range.files)
      if (auto const* found = find(now, file)) file.path = found->path;
  return order;
}

bool sound_mix(SampleOrder const& order, SampleRange const& range) {
  if (range.mix.empty()) return true;
  auto left = std::ssize(range.files);
  std::int64_t block = 0;
  for (auto const& [files, share, _] : range.mix) {
    if (files < 1 || files > left || share < 1 || share > kMostMixed - block) return false;
    left -= files;
    block += share;
  }
  return left == 0 && std::ranges::all_of(order.parts(range),
                                          [](MixedPart const& part) { return part.windows >= 1; });
}

bool sound(SampleOrder const& order) {
  constexpr std::int64_t most = std::int64_t{1} << 60;
  auto const possible = [](std::int64_t value) { return value >= 0 && value <= most; };
  bool good = order.window >= 1 && possible(order.window) && !order.ranges.empty() &&
              order.ranges.front().begin >= 0;
  std::int64_t begin = -1;
  for (auto const& range : order.ranges) {
    good = good && range.begin > begin && possible(range.begin) && possible(range.epoch);
    begin = range.begin;
    std::int64_t tokens = 0;
    for (auto const& file : range.files) {
      good = good && possible(file.tokens) && tokens <= most - file.tokens;
      if (good) tokens += file.tokens;
    }
    bool const counted = range.windows >= 1 && range.windows <= tokens;
    good = good && (order.cut.empty() ? tokens > order.window : counted) && sound_mix(order, range);
  }
  return good;
}

}  // namespace

KnownFile const* find(std::vector<KnownFile> const& files, KnownFile const& file) {
  auto const found = std::ranges::find_if(files, [&](auto const& f) { return f.is_same(file); });
  return found == files.end() ? nullptr : &*found;
}

bool same_files(Files const& one, Files const& other) {
  return std::ranges::equal(one, other, &KnownFile::is_same);
}

std::int64_t SampleRange::tokens() const {
  return tokens_of(files);
}

std::int64_t SampleOrder::windows(SampleRange const& range) const {
  if (range.mix.empty()) return cut.empty() ? (range.tokens() - 1) / window : range.windows;
  std::int64_t windows = 0;
  for (auto const& part : parts(range)) windows += part.windows;
  return windows;
}

std::vector<MixedPart> SampleOrder::parts(SampleRange const& range) const {
  std::vector<MixedPart> parts;
  auto file = range.files.begin();
  for (auto const& [files, share, windows] : range.mix) {
    auto const end = file + files;
    auto const tokens = tokens_of(Files(file, end));
    parts.push_back({share, cut.empty() ? (tokens - 1) / window : windows});
    file = end;
  }
  return parts;
}

SampleOrder begun(DataNow const& now) {
  return {now.window, {whole_range(now, 0, 0)}, now.cut};
}

Continued continued(SampleOrder const& before, std::int64_t samples, DataNow const& now,
                    bool anew) {
  auto const& last = before.ranges.back();
  bool const same = same_windows(before, now) && last.seed == now.seed && last.mix == now.mix;
  if (same && same_files(last.files, now.files)) return {with_paths(before, now.files), {}};
  std::vector<std::string> said{what_differs(before, now)};
  auto const at = under_way(before, std::max(samples, before.ranges.front().begin));
  if (anew || at.between) {
    auto const next = at.epoch + (at.between ? 0 : 1);
    bool const has_mix = is_mixed(before, at, now);  // which has no epoch of its own
    auto const what = has_mix ? "here" : "an epoch here";
    auto const* const rest = at.between ? ""
                             : has_mix  ? "; some text may come again, and some has not come"
                                        : "; of the epoch that ends here some text may come again, "
                                          "and some has not come";
    said.push_back(
        fmt::format("the data as they are now begin {}, after sample {}{}", what, samples, rest));
    return {{now.window, {whole_range(now, samples, next)}, now.cut}, said};
  }
  require_no_mix(before, at, now);
  require_rest(before, at, now);
  auto order = with_paths(completed(before, at, now), now.files);
  auto const& whole = order.ranges.back();
  said.push_back(fmt::format(
      "the epoch under way is completed first, no text twice, and the data as they are now begin "
      "after sample {}; data.changed=anew begins with them at once",
      whole.begin));
  return {std::move(order), std::move(said)};
}

std::string to_json(SampleOrder const& order) {
  Json json = {{"window", order.window}, {"stretches", Json::array()}};
  if (!order.cut.empty()) json["cut"] = order.cut;
  for (auto const& range : order.ranges)
    json["stretches"].push_back(json_of(range, !order.cut.empty()));
  return compact_json(json);
}

SampleOrder sample_order(std::string_view json, std::string const& source) {
  SampleOrder order;
  try {
    order = order_of(Json::parse(json));
  } catch (Json::exception const&) {
    order.window = 0;
  }
  if (sound(order)) return order;
  throw Error(Status::damaged, fmt::format("{}: /run: `data` cannot be understood", source));
}

}  // namespace spillway
