#include "run/device_choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/error.hpp"
#include "plan/data/words.hpp"

namespace spillway {
namespace {

[[noreturn]] void refuse(std::string_view asked, std::string const& why) {
  throw Error(Status::bad_input, fmt::format("run.device: {}: {}", asked, why));
}

// Returns N of "cuda:N", or nothing if the text has no number.
std::optional<int> number_in(std::string_view asked) {
  auto const colon = asked.find(':');
  if (colon == asked.npos) return std::nullopt;
  int number = 0;
  auto const [end, error] =
      std::from_chars(asked.data() + colon + 1, asked.data() + asked.size(), number);
  if (error != std::errc()) refuse(asked, "no machine has so many devices");
  return number;
}

std::string kind(OpenedDevice const& device) {
  return fmt::format("{} ({})", device.name.data(), device.target.data());
}

bool same_device(OpenedDevice const& a, OpenedDevice const& b) {
  return a.node_leader == b.node_leader && a.id == b.id;
}

bool is_usable(SeenDevices const& seen, int number) {
  auto const bit = static_cast<std::size_t>(number);
  return bit >= seen.unusable.size() || !seen.unusable[bit];
}

std::vector<int> usable(SeenDevices const& seen) {
  std::vector<int> numbers;
  for (int number = 0; number < seen.devices; ++number)
    if (is_usable(seen, number)) numbers.push_back(number);
  return numbers;
}

std::string has_none(std::size_t rank, SeenDevices const& seen) {
  return fmt::format("rank {} sees no GPU{}: {}", rank, seen.devices == 0 ? "" : " that it can use",
                     seen.why_none.data());
}

void require_devices(std::string_view asked, std::span<SeenDevices const> all) {
  auto const number = number_in(asked);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    auto const& seen = all[rank];
    if (seen.devices == 0 || (!number && usable(seen).empty())) refuse(asked, has_none(rank, seen));
    if (number && *number >= seen.devices)
      refuse(asked, fmt::format("rank {} sees {} GPU{}, whose numbers begin with 0", rank,
                                seen.devices, seen.devices == 1 ? "" : "s"));
    if (number && !is_usable(seen, *number))
      refuse(asked, fmt::format("rank {} cannot use it: {}", rank, seen.why_none.data()));
  }
}

}  // namespace

std::optional<int> choose_device(std::string_view asked, std::span<SeenDevices const> all,
                                 int rank) {
  if (asked == "cpu") return std::nullopt;
  auto const has_some = [](SeenDevices const& seen) { return !usable(seen).empty(); };
  if (asked == "auto" && std::ranges::none_of(all, has_some)) return std::nullopt;
  require_devices(asked, all);
  if (auto const number = number_in(asked)) return number;
  // A launcher that gives each rank its own GPU hides all others, so the remainder is 0.
  auto const& own = all[static_cast<std::size_t>(rank)];
  auto const numbers = usable(own);
  return numbers[static_cast<std::size_t>(own.local_rank) % numbers.size()];
}

std::string warning_of_cores(std::string_view asked, std::span<SeenDevices const> all) {
  auto const with_driver = std::ranges::find_if(all, &SeenDevices::has_driver);
  if (asked != "auto" || with_driver == all.end()) return "";
  auto const rank = static_cast<std::size_t>(with_driver - all.begin());
  return fmt::format("run.device: auto: computes on the cores: {}", has_none(rank, *with_driver));
}

int sharers(std::span<OpenedDevice const> all, int rank) {
  auto const& own = all[static_cast<std::size_t>(rank)];
  auto const shares = [&](OpenedDevice const& other) { return same_device(own, other); };
  return static_cast<int>(std::ranges::count_if(all, shares));
}

void require_own_devices(std::string_view asked, std::span<OpenedDevice const> all) {
  if (number_in(asked)) return;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    for (std::size_t other = 0; other < rank; ++other) {
      if (!same_device(all[rank], all[other])) continue;
      refuse(asked, fmt::format("ranks {} and {} have the same GPU: start a rank for each GPU of a "
                                "node, or let them share it with cuda:0",
                                other, rank));
    }
  }
}

void require_like_devices(std::string_view asked, std::span<OpenedDevice const> all) {
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (kind(all[rank]) == kind(all[0])) continue;
    refuse(asked, fmt::format("ranks 0 and {} have unlike GPUs, {} and {}: all ranks need the same",
                              rank, kind(all[0]), kind(all[rank])));
  }
}

std::string describe_devices(std::span<OpenedDevice const> all) {
  std::int64_t devices = 0;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    auto const is_same = [&](OpenedDevice const& other) { return same_device(all[rank], other); };
    devices += std::ranges::none_of(all.first(rank), is_same) ? 1 : 0;
  }
  return fmt::format("{}, {}, with {}", count(devices, "GPU"), kind(all[0]),
                     count(std::ssize(all), "rank"));
}

std::string describe_cores(std::int64_t ranks, std::int64_t threads) {
  return fmt::format("the cores with {} of {}", count(ranks, "rank"), count(threads, "thread"));
}

}  // namespace spillway
