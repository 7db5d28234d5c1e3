#include "report/page/rok_points.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/number.hpp"

namespace spillway {
namespace {

constexpr std::string_view kPolicy = "policy";
constexpr auto kNumbersShown = std::to_array<std::string_view>(
    {"micro", "sequence_tokens", "planned_peak_device_bytes", "peak_device_bytes",
     "activation_peak_bytes", "predicted_step_s", "step_s", "least_step_s", "most_step_s",
     "tokens_per_s", "spilled_bytes"});

std::vector<std::string_view> parts(std::string_view line) {
  std::vector<std::string_view> result;
  while (true) {
    auto const comma = line.find(',');
    result.push_back(line.substr(0, comma));
    if (comma == line.npos) return result;
    line.remove_prefix(comma + 1);
  }
}

PageJson point(std::vector<std::string_view> const& names,
               std::vector<std::string_view> const& values) {
  PageJson json = PageJson::object();
  for (std::size_t i = 0; i < std::min(names.size(), values.size()); ++i) {
    if (names[i] == kPolicy) json[std::string(kPolicy)] = values[i];
    if (std::ranges::find(kNumbersShown, names[i]) == kNumbersShown.end()) continue;
    if (auto const number = to_number<double>(values[i])) json[std::string(names[i])] = *number;
  }
  return json;
}

}  // namespace

PageJson rok_points(std::string_view csv) {
  PageJson points = PageJson::array();
  std::vector<std::string_view> names;
  while (!csv.empty()) {
    auto const end = std::min(csv.find('\n'), csv.size());
    auto const values = parts(csv.substr(0, end));
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (names.empty()) {
      names = values;
      continue;
    }
    auto one = point(names, values);
    if (one.contains(kPolicy) && one.contains("step_s")) points.push_back(std::move(one));
  }
  return points;
}

}  // namespace spillway
