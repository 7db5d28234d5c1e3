#include "app/token_count.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string_view>

#include "base/number.hpp"

namespace spillway {
namespace {

std::optional<double> read(std::string_view text) {
  constexpr std::string_view units = "KMBT";
  constexpr double most = 1e18;
  double factor = 1;
  if (!text.empty()) {
    auto const unit = units.find(text.back());
    if (unit != units.npos) {
      factor = std::pow(1000.0, static_cast<double>(unit + 1));
      text.remove_suffix(1);
    }
  }
  auto const number = to_number<double>(text);
  if (!number || !std::isfinite(*number)) return {};
  auto const tokens = std::round(*number * factor);
  if (!(tokens >= 1 && tokens <= most)) return {};
  return tokens;
}

}  // namespace

std::string wrong_token_count(std::string const& text) {
  if (read(text)) return "";
  return fmt::format(
      "'{}' is no number of tokens; give one such as 300M, 100B or 1.5T (units: K, M, B, "
      "T)",
      text);
}

double token_count(std::string const& text) {
  return read(text).value_or(0);
}

}  // namespace spillway
