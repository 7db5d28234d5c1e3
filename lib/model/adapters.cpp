#include "model/adapters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "config/suggest.hpp"

namespace spillway {
namespace {

constexpr std::string_view kA = ".lora_A.weight", kB = ".lora_B.weight", kAll = "all";

// A short name stands for linear layers whose names end so, at a dot.
struct ShortName {
  std::string_view word;
  std::vector<std::string_view> ends;
};

std::vector<ShortName> const& short_names(Family family) {
  // The rows of the families are in the order of the enumerators of Family.
  static std::vector<ShortName> const names[] = {{{"qkv", {"attn.c_attn"}},
                                                  {"o", {"attn.c_proj"}},
                                                  {"up", {"mlp.c_fc"}},
                                                  {"down", {"mlp.c_proj"}}},
                                                 {{"q", {"self.query"}},
                                                  {"k", {"self.key"}},
                                                  {"v", {"self.value"}},
                                                  {"o", {"attention.output.dense"}},
                                                  {"up", {"intermediate.dense"}},
                                                  {"down", {"output.dense"}}},
                                                 {{"q", {"q"}},
                                                  {"k", {"k"}},
                                                  {"v", {"v"}},
                                                  {"o", {"o"}},
                                                  {"gate", {"wi_0"}},
                                                  {"up", {"wi", "wi_1"}},
                                                  {"down", {"wo"}}},
                                                 {{"q", {"q_proj"}},
                                                  {"k", {"k_proj"}},
                                                  {"v", {"v_proj"}},
                                                  {"o", {"o_proj"}},
                                                  {"gate", {"gate_proj"}},
                                                  {"up", {"up_proj"}},
                                                  {"down", {"down_proj"}}}};
  return names[static_cast<std::size_t>(family)];
}

bool ends_at_dot(std::string_view name, std::string_view end) {
  if (!name.ends_with(end)) return false;
  return name.size() == end.size() || name[name.size() - end.size() - 1] == '.';
}

// Returns the longest of all short names' ends with which the layer's name ends: BERT's
// attention.output.dense is o, and not down too.
std::string_view end_of(Family family, std::string_view name) {
  std::string_view longest;
  for (auto const& [word, ends] : short_names(family)) {
    for (auto const end : ends)
      if (ends_at_dot(name, end) && end.size() > longest.size()) longest = end;
  }
  return longest;
}

// Returns the end of the name that has so many parts, which dots separate.
std::string last_parts(std::string const& name, int parts) {
  auto at = name.size();
  for (int i = 0; i < parts && at != name.npos && at > 0; ++i) at = name.rfind('.', at - 1);
  return at == name.npos ? name : name.substr(at + 1);
}

// Returns the short name that means the same layers, if there is one.
std::string short_name(Family family, std::string const& target) {
  std::vector<std::string_view> words;
  for (auto const& [word, ends] : short_names(family)) {
    if (word == target) return target;
    for (auto const end : ends)
      if (ends_at_dot(end, target)) words.push_back(word);
  }
  return words.size() == 1 ? std::string(words.front()) : target;
}

}  // namespace

void complete_lora(ModelConfig& model) {
  auto& lora = model.lora;
  if (lora.rank == 0) return;
  if (lora.alpha == 0) lora.alpha = 2 * static_cast<double>(lora.rank);
  if (lora.targets.empty()) lora.targets = {"q", "v"};
  if (lora.targets == std::vector<std::string>{"q", "v"} && model.family == Family::gpt)
    lora.targets = {"qkv"};
  std::set<std::string> targets;
  for (auto const& target : lora.targets) targets.insert(short_name(model.family, target));
  lora.targets.assign(targets.begin(), targets.end());
}

std::string trained_words(ModelConfig model) {
  complete_lora(model);
  auto const& [rank, alpha, targets, dropout] = model.lora;
  auto const frozen = model.quantize == Quantization::none
                          ? std::string()
                          : fmt::format("; frozen matrices in {}", word(model.quantize));
  if (rank > 0)
    return fmt::format("adapters (LoRA) of rank {}, alpha {:g}, of {}{}{}", rank, alpha,
                       fmt::join(targets, ", "),
                       dropout > 0 ? fmt::format("; dropout {:g}", dropout) : "", frozen);
  if (model.freeze.empty()) return "";
  return fmt::format("all but {}{}", fmt::join(model.freeze, ", "), frozen);
}

std::vector<std::string> shortest_targets(std::vector<std::string> const& layers,
                                          std::vector<std::string> const& modules) {
  constexpr int most_parts = 2;
  for (int parts = 1; parts <= most_parts; ++parts) {
    std::set<std::string> ends;
    for (auto const& layer : layers) ends.insert(last_parts(layer, parts));
    auto const is_meant = [&](std::string const& module) {
      return std::ranges::any_of(ends, [&](auto const& end) { return ends_at_dot(module, end); });
    };
    auto const is_another = [&](std::string const& module) {
      return is_meant(module) && std::ranges::count(layers, module) == 0;
    };
    if (std::ranges::none_of(modules, is_another)) return {ends.begin(), ends.end()};
  }
  return layers;
}

std::string module_of(std::string const& parameter) {
  return parameter.substr(0, parameter.rfind('.'));
}

std::string adapter_a(std::string const& name) {
  return name + std::string(kA);
}

std::string adapter_b(std::string const& name) {
  return name + std::string(kB);
}

std::optional<std::string> adapted_layer(std::string_view parameter) {
  for (auto const end : {kA, kB})
    if (parameter.ends_with(end))
      return std::string(parameter.substr(0, parameter.size() - end.size()));
  return std::nullopt;
}

bool AdapterTargets::is_target(std::string_view target, std::string const& name) const {
  if (target == kAll) return true;
  auto const& names = short_names(m_model.family);
  auto const found = std::ranges::find(names, target, &ShortName::word);
  if (found == names.end()) return ends_at_dot(name, target);
  return std::ranges::count(found->ends, end_of(m_model.family, name)) > 0;
}

bool AdapterTargets::adapts(std::string const& name) {
  if (m_model.lora.rank == 0) return false;
  m_names.push_back(name);
  bool adapts = false;
  for (auto const& target : m_model.lora.targets) {
    if (!is_target(target, name)) continue;
    adapts = true;
    if (std::ranges::count(m_used, target) == 0) m_used.push_back(target);
  }
  return adapts;
}

void AdapterTargets::require_all_used() const {
  std::vector<std::string> offered = {std::string(kAll)};
  for (auto const& [word, _] : short_names(m_model.family)) offered.emplace_back(word);
  std::set<std::string> lasts;
  for (auto const& name : m_names) lasts.insert(last_parts(name, 1));
  for (auto const& target : m_model.lora.targets) {
    if (std::ranges::count(m_used, target) > 0) continue;
    auto known = offered;
    known.insert(known.end(), lasts.begin(), lasts.end());
    throw Error(Status::bad_input,
                fmt::format("model.lora.targets: {} is no linear layer of this model{}; give some "
                            "of {} (or of {})",
                            target, did_you_mean(nearest_word(target, known)),
                            fmt::join(offered, ", "), fmt::join(lasts, ", ")));
  }
}

}  // namespace spillway
