#include "graph/arithmetic.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <concepts>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.hpp"
#include "base/printable.hpp"

namespace spillway {

template <class E>
concept ArithmeticChoice = std::same_as<E, Precision> || std::same_as<E, Reduction>;

void to_json(nlohmann::json& json, ArithmeticChoice auto value) {
  json = word(value);
}

template <ArithmeticChoice E>
void from_json(nlohmann::json const& json, E& value) {
  auto const parsed = parse_word<E>(json.get<std::string>());
  if (!parsed)
    throw Error(Status::damaged, fmt::format("stored arithmetic cannot be read: {} is none of {}",
                                             printable(json.dump()), fmt::join(kWords<E>, ", ")));
  value = *parsed;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProductChoices, made_by, algorithms)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Arithmetic, build, isa, precision, gradients, moments, threads,
                                   ranks, micro, sequence, attention_tile, loss_chunk, reduction)

namespace {

// Only runs on a device have the first key, only those with a list in batch.share the second, and
// only those whose MLPs take some rows at a time the third.
constexpr char kProducts[] = "products", kShare[] = "share", kMlpChunk[] = "mlp_chunk";

std::string text_of_share(std::vector<std::int64_t> const& share) {
  return share.empty() ? "equal" : fmt::format("[{}]", fmt::join(share, ", "));
}

std::string text(nlohmann::json const& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

std::string to_json(Arithmetic const& arithmetic) {
  nlohmann::json json = arithmetic;
  if (arithmetic.products != ProductChoices{}) json[kProducts] = arithmetic.products;
  if (!arithmetic.share.empty()) json[kShare] = arithmetic.share;
  if (arithmetic.mlp_chunk != 0) json[kMlpChunk] = arithmetic.mlp_chunk;
  return json.dump();
}

Arithmetic arithmetic_from_json(std::string const& text) {
  try {
    auto const json = nlohmann::json::parse(text);
    auto arithmetic = json.get<Arithmetic>();
    if (json.contains(kProducts)) json[kProducts].get_to(arithmetic.products);
    if (json.contains(kShare)) json[kShare].get_to(arithmetic.share);
    if (json.contains(kMlpChunk)) json[kMlpChunk].get_to(arithmetic.mlp_chunk);
    return arithmetic;
  } catch (nlohmann::json::exception const& e) {
    throw Error(Status::damaged, fmt::format("stored arithmetic cannot be read: {}", e.what()));
  }
}

std::string describe_difference(Arithmetic const& before, Arithmetic const& now) {
  nlohmann::json const old_values = before, new_values = now;
  std::vector<std::string> all;
  for (auto const& [key, value] : new_values.items()) {
    if (old_values[key] != value)
      all.push_back(fmt::format("{}: {} -> {}", key, text(old_values[key]), text(value)));
  }
  if (before.share != now.share)
    all.push_back(
        fmt::format("{}: {} -> {}", kShare, text_of_share(before.share), text_of_share(now.share)));
  if (before.mlp_chunk != now.mlp_chunk)
    all.push_back(fmt::format("{}: {} -> {}", kMlpChunk, before.mlp_chunk, now.mlp_chunk));
  auto const products = describe_difference(before.products, now.products);
  if (!products.empty()) all.push_back(fmt::format("{}: {}", kProducts, products));
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace spillway
