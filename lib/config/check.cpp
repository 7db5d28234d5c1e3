#include "config/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "config/keys.hpp"
#include "config/place.hpp"

namespace spillway {
namespace {

class Checker {
 public:
  explicit Checker(Origins const& origins) : m_origins(origins) {}

  // Throws Error(bad_input), with the place where `key` or `other` was given, unless `holds` is
  // true.
  template <class... Args>
  void require(bool holds, std::string_view key, std::string_view other,
               fmt::format_string<Args...> problem, Args&&... args) const {
    if (holds) return;
    refuse({place_of(key, other), std::string(key)},
           fmt::format(problem, std::forward<Args>(args)...));
  }

 private:
  // Returns where `key` was given or, if it has its default or if `other` comes from the command
  // line, where `other` was given.
  std::string place_of(std::string_view key, std::string_view other) const {
    auto const first = m_origins.find(key), second = m_origins.find(other);
    if (second == m_origins.end()) return first == m_origins.end() ? "" : first->second;
    bool const blame_other = first == m_origins.end() || second->second == command_line;
    return blame_other ? second->second : first->second;
  }

  Origins const& m_origins;
};

void check_model(ModelConfig const& m, Checker const& checker) {
  checker.require(m.head_size > 0 || m.hidden % m.heads == 0, "model.heads", "model.hidden",
                  "{} does not divide hidden = {}", m.heads, m.hidden);
  checker.require(m.kv_heads == 0 || m.heads % m.kv_heads == 0, "model.kv_heads", "model.heads",
                  "{} does not divide heads = {}", m.kv_heads, m.heads);
}

void check_trained(ModelConfig const& m, Checker const& checker) {
  auto const& lora = m.lora;
  for (auto const& [key, given] : {std::pair("model.lora.alpha", lora.alpha > 0),
                                   std::pair("model.lora.targets", !lora.targets.empty()),
                                   std::pair("model.lora.dropout", lora.dropout > 0)})
    checker.require(lora.rank > 0 || !given, key, "model.lora.rank", "needs model.lora.rank");
  checker.require(m.quantize == Quantization::none || lora.rank > 0 || !m.freeze.empty(),
                  "model.quantize", "model.lora.rank",
                  "quantizes what is frozen: needs model.lora or model.freeze");
  checker.require(lora.rank == 0 || m.freeze.empty(), "model.freeze", "model.lora.rank",
                  "with model.lora all but the adapters is frozen; leave out one of them");
}

// Checks the keys of rotary positions. The family must have these keys.
void check_rope(ModelConfig const& m, Checker const& checker) {
  auto const head_size = m.head_size > 0 ? m.head_size : m.hidden / m.heads;
  checker.require(head_size % 2 == 0, "model.head_size", "model.hidden",
                  "rotary positions turn columns of a head in pairs, and it has {}", head_size);
  checker.require(
      m.rope_scaling != RopeScaling::llama3 || m.rope_high_freq_factor > m.rope_low_freq_factor,
      "model.rope_high_freq_factor", "model.rope_low_freq_factor",
      "{} does not exceed rope_low_freq_factor = {}", m.rope_high_freq_factor,
      m.rope_low_freq_factor);
}

void check_batch(BatchConfig const& b, Checker const& checker) {
  checker.require(!b.micro || *b.micro <= b.sequences, "batch.micro", "batch.sequences",
                  "{} exceeds batch.sequences = {}", b.micro.value_or(0), b.sequences);
}

// Refuses a Config whose model or micro-batch certainly needs more memory than any machine has, or
// whose tokens cannot be counted in 63 bits.
void check_sizes(Config const& c, Checker const& checker) {
  auto const& m = c.model;
  auto const real = [](std::int64_t number) { return static_cast<double>(number); };
  constexpr auto most = static_cast<double>(kMostBytes);
  constexpr double state_bytes = 8;  // the fewest bytes for a parameter and its state
  checker.require(
      state_bytes * real(m.layers) * real(m.hidden) * real(std::max(m.hidden, m.ffn)) <= most,
      "model.hidden", "model.layers",
      "{} layers with hidden = {} and ffn = {} have a state of more than {}", m.layers, m.hidden,
      m.ffn, human_bytes(kMostBytes));
  checker.require(state_bytes * real(m.vocab) * real(m.hidden) <= most, "model.vocab",
                  "model.hidden", "{} rows of hidden = {} have a state of more than {}", m.vocab,
                  m.hidden, human_bytes(kMostBytes));
  // A micro-batch that is `auto` counts as one sequence, which the bounds of single keys keep small
  // enough.
  auto const micro = c.batch.micro.value_or(1);
  checker.require(2 * real(micro) * real(c.data.sequence) * real(m.hidden) <= most, "batch.micro",
                  "data.sequence",
                  "a micro-batch of {} x data.sequence = {} rows of hidden = {} takes more than {}",
                  micro, c.data.sequence, m.hidden, human_bytes(kMostBytes));
  auto const tokens = product({c.run.steps, c.batch.sequences, c.data.sequence});
  checker.require(tokens.has_value(), "run.steps", "batch.sequences",
                  "{} steps of {} sequences of {} tokens are more tokens than 63 bits count",
                  c.run.steps, c.batch.sequences, c.data.sequence);
}

void check_optim(OptimConfig const& o, Precision precision, Checker const& checker) {
  checker.require(o.min_lr <= o.lr, "optim.min_lr", "optim.lr", "{} exceeds optim.lr = {}",
                  o.min_lr, o.lr);
  checker.require(precision == Precision::bf16 || o.gradients != Precision::bf16, "optim.gradients",
                  "precision", "bf16 needs precision: bf16");
}

// A drive of a machine that is not here needs no path: memory.nvme.path `auto` means that drive.
void check_memory(MemoryConfig const& m, Checker const& checker, ForMachine where) {
  if (where == ForMachine::other && !m.nvme_paths) return;
  bool const has_path = m.has_nvme_here(), has_size = m.nvme_bytes_here() > 0;
  checker.require(has_size || !has_path, "memory.nvme.size", "memory.nvme.path",
                  "needed with memory.nvme.path");
  checker.require(has_path || !has_size, "memory.nvme.path", "memory.nvme.size",
                  "needed with memory.nvme.size");
}

void check_run(RunConfig const& run, Checker const& checker) {
  checker.require(run.peer_timeout_s >= 1, "run.peer_timeout", "run.peer_timeout",
                  "give at least 1s");
  for (auto const step : run.trace)
    checker.require(step <= run.steps, "run.trace", "run.steps",
                    "step {} is none of run.steps = {}", step, run.steps);
}

void check_fault(Config const& c, Checker const& checker) {
  bool const damages = c.debug.fault.starts_with("storage-random");
  checker.require(c.spill.checksum || !damages, "debug.fault", "spill.checksum",
                  "{} damages what only spill.checksum finds", c.debug.fault);
}

bool names(Asked<BlockPlan> const& asked, Tier tier) {
  return std::ranges::any_of(
      asked, [&](auto const& entry) { return entry && away_tier(entry->policy) == tier; });
}
bool names(Asked<Tier> const& asked, Tier tier) {
  return std::ranges::count(asked, tier) > 0;
}
bool names(Asked<Shard> const&, Tier) {
  return false;
}

// Calls visit(key, list) for each key of the plan whose value is a list.
template <class Visit>
void for_each_list(PlanConfig const& plan, Visit visit) {
  visit("plan.activations", plan.activations);
  for (PlaceRow const& row : kPlaceTable) visit(fmt::format("plan.{}", row.name), plan.*row.asked);
  visit("plan.shard", plan.shard);
}

// Refuses a plan that names a missing tier. `where` decides about tiers whose size is `auto`.
void check_tiers(Config const& c, Checker const& checker, ForMachine where) {
  auto const& memory = c.memory;
  bool const elsewhere = where == ForMachine::other;
  bool const has_nvme = elsewhere ? !memory.nvme_is_none() : memory.has_nvme_here();
  bool const has_host =
      where == ForMachine::here ? memory.host_bytes_here() > 0 : memory.host_bytes != 0;
  for_each_list(c.plan, [&](std::string const& key, auto const& asked) {
    checker.require(has_nvme || !names(asked, Tier::nvme), key, "memory.nvme.path",
                    "nvme needs memory.nvme: {{path: DIR, size: BYTES}}");
    bool const host_lane = key == "plan.update";  // the host lane can use the device arena too
    checker.require(has_host || host_lane || !names(asked, Tier::host), key, "memory.host",
                    "host needs memory.host: BYTES");
  });
}

void check_plan(Config const& c, Checker const& checker) {
  auto const& p = c.plan;
  checker.require(static_cast<std::int64_t>(p.activations.size()) <= c.model.layers,
                  "plan.activations", "model.layers", "a list of {} for model.layers = {}",
                  p.activations.size(), c.model.layers);
  bool const free = p.file.empty();
  for_each_list(p, [&](std::string const& key, auto const& asked) {
    bool const is_auto = asked.size() == 1 && !asked.front();
    checker.require(free || is_auto, key, "plan.file",
                    "contradicts plan.file, which decides it; give one of them");
  });
  for (auto const& [key, asked] :
       {std::pair("plan.prefetch", p.prefetch.has_value()),
        std::pair("plan.group", p.group.has_value()), std::pair("plan.early", p.early.has_value()),
        std::pair("plan.shard_ranks", p.shard_ranks.has_value())})
    checker.require(free || !asked, key, "plan.file",
                    "contradicts plan.file, which decides it; give one of them");
  bool const shares = std::ranges::any_of(
      p.shard, [](auto const& shard) { return shard.value_or(Shard::none) != Shard::none; });
  bool const is_whole = c.optim.name == Optimizer::adafactor || c.optim.name == Optimizer::muon;
  checker.require(!shares || !is_whole, "plan.shard", "optim.name",
                  "the optimizer {} updates whole matrices, which ranks do not share out; give "
                  "none or auto",
                  word(c.optim.name));
  checker.require(p.early.value_or(100) == 100 || !c.optim.awaits_norm(), "plan.early",
                  "optim.clip",
                  "below 100 it needs optim.clip: 0 and optim.non_finite: stop, since updates wait "
                  "for the norm of all gradients");
}

}  // namespace

namespace {

// Calls found(key, place) for each key that is given another value than its default.
template <class Found>
void for_each_changed(std::vector<Key> const& keys, Origins const& origins, Found const& found) {
  Config defaults;
  auto const unset = keys_of(defaults);
  for (Key const& key : keys) {
    auto const given = origins.find(key.name);
    if (given == origins.end()) continue;
    if (write_key(key) == write_key(*std::ranges::find(unset, key.name, &Key::name))) continue;
    found(key, Place{given->second, std::string(key.name)});
  }
}

// Refuses keys that the optimizer does not have, so that none is given in vain.
void check_optimizer(std::vector<Key> const& keys, Origins const& origins, Optimizer optimizer) {
  for_each_changed(keys, origins, [&](Key const& key, Place const& place) {
    if (!key.is_of(optimizer))
      refuse(place, fmt::format("the optimizer {} has none; it is of {}", word(optimizer),
                                key.optimizer_words()));
  });
}

}  // namespace

void check_family(std::vector<Key> const& keys, Origins const& origins, Family family) {
  for_each_changed(keys, origins, [&](Key const& key, Place const& place) {
    if (!key.is_of(family))
      refuse(place, fmt::format("models of the family {} have none; it is of {}", word(family),
                                key.family_words()));
  });
}

void check(Config const& config, Origins const& origins, ForMachine where) {
  Checker const checker(origins);
  Config copy = config;
  auto const keys = keys_of(copy);
  auto const family = config.model.family;
  check_family(keys, origins, family);
  check_optimizer(keys, origins, config.optim.name);
  check_model(config.model, checker);
  check_trained(config.model, checker);
  bool const has_rope = std::ranges::find(keys, "model.rope_theta", &Key::name)->is_of(family);
  if (has_rope) check_rope(config.model, checker);
  check_batch(config.batch, checker);
  check_sizes(config, checker);
  check_optim(config.optim, config.precision, checker);
  check_memory(config.memory, checker, where);
  check_run(config.run, checker);
  check_fault(config, checker);
  check_plan(config, checker);
  check_tiers(config, checker, where);
}

}  // namespace spillway
