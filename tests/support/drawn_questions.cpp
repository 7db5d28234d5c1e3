#include "tests/support/drawn_questions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "graph/build.hpp"
#include "model/model.hpp"
#include "plan/data/machine_file.hpp"

namespace spillway::test {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

struct Shape {
  Family family;
  std::int64_t layers, hidden, heads, vocab;
};
constexpr std::array kShapes = {
    Shape{Family::gpt, 12, 768, 12, 50257},     Shape{Family::gpt, 24, 2048, 16, 50257},
    Shape{Family::gpt, 48, 4096, 32, 50257},    Shape{Family::bert, 24, 1024, 16, 30522},
    Shape{Family::llama, 16, 2048, 32, 128256}, Shape{Family::llama, 32, 4096, 32, 32000},
    Shape{Family::llama, 40, 5120, 40, 32000},  Shape{Family::t5, 12, 768, 12, 32128}};

constexpr std::array kMachines = {"a100-80", "gh200", "h100", "h200", "rtx3090"};

// The part of a machine that each of its ranks has.
Machine machine_named(std::string const& name, std::int64_t ranks) {
  return shared_by(load_machine(fmt::format(SPILLWAY_SOURCE_DIR "/input/machines/{}.yaml", name)),
                   ranks);
}

template <class List>
auto const& any_of(List const& list, Random& draws) {
  return list[static_cast<std::size_t>(below(draws, static_cast<int>(std::size(list))))];
}

Graph training_graph(Shape const& shape, std::int64_t sequence, std::int64_t micro) {
  Config config;
  config.model.family = shape.family;
  config.model.layers = shape.layers;
  config.model.hidden = shape.hidden;
  config.model.heads = shape.heads;
  config.data.sequence = sequence;
  config.model = completed(config, shape.vocab);
  Arithmetic arithmetic;
  arithmetic.precision = Precision::bf16;
  arithmetic.micro = micro;
  arithmetic.sequence = sequence;
  auto graph = build_model(config, shape.vocab, arithmetic, Purpose::train);
  append_backward(graph);
  append_update(graph);
  return graph;
}

// Draws all but the budgets and whether there is clipping, and begins the text.
Question draw_about(Shape const& shape, unsigned seed, Random& draws) {
  auto const micro = any_of(std::array{1, 2, 4, 8}, draws);
  auto const sequence = any_of(std::array{512, 1024, 2048}, draws);
  Question it;
  it.ranks = any_of(std::array{1, 1, 2, 4, 8}, draws);
  it.micro_batches = any_of(std::array{1, 2, 4, 8, 32}, draws);
  auto const* const name = any_of(kMachines, draws);
  it.machine = machine_named(name, it.ranks);
  it.graph = training_graph(shape, sequence, micro);
  it.text =
      fmt::format("{}: {} {}x{}, micro {} x {}, sequence {}, {} x {}", seed, word(shape.family),
                  shape.layers, shape.hidden, micro, it.micro_batches, sequence, it.ranks, name);
  return it;
}

void add_budgets_to_text(Question& it) {
  auto const gib = [](std::int64_t bytes) { return static_cast<double>(bytes) / kGiB; };
  it.text += fmt::format(", {:.3g} + {:.3g} + {:.3g} GiB{}", gib(it.budgets.device_bytes),
                         gib(it.budgets.host_bytes), gib(it.budgets.nvme_bytes),
                         it.words.norm_is_awaited ? "" : ", no clipping");
}

struct Key {
  std::string name;
  std::vector<std::string> values;
  void (*force)(PlanWords&, std::string const&);
};
std::vector<Key> const& keys() {
  static std::vector<Key> const all = {
      {"gradients", {"device", "host"}, [](auto& w, auto& v) { w.gradients = {v}; }},
      {"parameters", {"device", "host", "nvme"}, [](auto& w, auto& v) { w.parameters = {v}; }},
      {"optimizer", {"device", "host", "nvme"}, [](auto& w, auto& v) { w.optimizer = {v}; }},
      {"update", {"device", "host"}, [](auto& w, auto& v) { w.update = {v}; }},
      {"activations",
       {"keep", "recompute", "light", "host"},
       [](auto& w, auto& v) { w.activations = {v}; }},
      {"shard", {"none", "gradients", "all"}, [](auto& w, auto& v) { w.shard = {v}; }},
      {"group", {"1", "2", "4"}, [](auto& w, auto& v) { w.group = std::stoi(v); }},
      {"prefetch", {"1", "2"}, [](auto& w, auto& v) { w.prefetch = std::stoi(v); }}};
  return all;
}

// Forces a value of a key, unless the question leaves no choice there, and returns whether it did.
bool force(Question& it, Key const& key, std::string const& value) {
  if (it.ranks == 1 && key.name == "shard") return false;
  if (it.budgets.nvme_bytes == 0 && value == "nvme") return false;
  key.force(it.words, value);
  return true;
}

}  // namespace

double Question::step_s() const {
  auto const found = solve(asked());
  return found.chosen ? found.chosen->step_s : 86'400;
}

Question draw_question(unsigned seed) {
  Random draws(seed);
  auto const& shape = any_of(kShapes, draws);
  auto it = draw_about(shape, seed, draws);
  it.budgets = {it.machine.device_bytes, it.machine.host_bytes, it.machine.nvme_bytes};
  auto const device = any_of(std::array{8, 12, 20, 40, 60, 0, 0}, draws) * kGiB;
  auto const host = any_of(std::array{32, 80, 160, 0, 0, 0}, draws) * kGiB;
  if (device > 0) it.budgets.device_bytes = std::min(it.budgets.device_bytes, device);
  if (host > 0) it.budgets.host_bytes = std::min(it.budgets.host_bytes, host);
  it.budgets.host_bytes /= it.ranks;
  it.budgets.nvme_bytes = below(draws, 2) == 0 ? 0 : it.budgets.nvme_bytes / it.ranks;
  it.words.norm_is_awaited = below(draws, 3) > 0;
  add_budgets_to_text(it);
  return it;
}

Question draw_tight_question(unsigned seed) {
  Random draws(seed + 1'000'000);
  auto shape = any_of(kShapes, draws);
  shape.layers = any_of(std::array{2, 3, 4, 6, 8, 12}, draws);
  auto it = draw_about(shape, seed, draws);
  it.words.norm_is_awaited = below(draws, 3) > 0;
  constexpr auto plenty = std::int64_t{1} << 50;
  it.budgets = {plenty, plenty, plenty};
  auto const all = static_cast<double>(outlook(it.asked()).peak_bytes[Tier::device]);
  auto const part = [&](double share) { return static_cast<std::int64_t>(share * all); };
  it.budgets.device_bytes =
      part(any_of(std::array{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9}, draws));
  it.budgets.host_bytes = part(any_of(std::array{0.3, 0.6, 1.0, 2.0}, draws));
  it.budgets.nvme_bytes = below(draws, 2) == 0 ? 0 : part(4);
  add_budgets_to_text(it);
  return it;
}

Forced with_keys_forced(Question question, Random& draws) {
  auto drawn = keys();
  std::ranges::shuffle(drawn, draws);
  drawn.resize(static_cast<std::size_t>(any_of(std::array{1, 1, 2, 3}, draws)));
  std::vector<std::string> texts;
  for (Key const& key : drawn) {
    auto const& value = any_of(key.values, draws);
    if (force(question, key, value)) texts.push_back(key.name + "=" + value);
  }
  return {fmt::format("{}", fmt::join(texts, " ")), std::move(question)};
}

std::vector<Forced> with_each_key_forced(Question const& question) {
  std::vector<Forced> result;
  for (Key const& key : keys()) {
    for (std::string const& value : key.values) {
      auto forced = question;
      if (force(forced, key, value)) result.push_back({key.name + "=" + value, std::move(forced)});
    }
  }
  return result;
}

std::vector<More> const& more_of_each() {
  static std::vector<More> const all = {
      {"device memory", [](Question& it) { it.budgets.device_bytes *= 2; }},
      {"host memory", [](Question& it) { it.budgets.host_bytes *= 2; }},
      {"room on the drive", [](Question& it) { it.budgets.nvme_bytes *= 2; }},
      {"link to the device", [](Question& it) { it.machine.h2d_gbps *= 2; }},
      {"link to the host", [](Question& it) { it.machine.d2h_gbps *= 2; }},
      {"reads of the drive", [](Question& it) { it.machine.nvme_read_gbps *= 2; }}};
  return all;
}

}  // namespace spillway::test
