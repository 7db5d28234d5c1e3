#include "plan/data/machine_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "config/assign.hpp"
#include "config/print.hpp"
#include "config/scalar.hpp"
#include "config/suggest.hpp"
#include "graph/target.hpp"

namespace spillway {

namespace {

constexpr std::string_view kUnknown = "unknown", kAbout = "about", kTarget = "target",
                           kKinds = "kinds";
constexpr std::string_view kTargetDoc =
    "What the compute lane's kernels are made for: host, sm_90 and so on.";
constexpr std::int64_t kMostThreads = 4096;
constexpr double kMost = 1e9;  // every rate and time in a machine file must be below this
constexpr double kMostWear = 1000;

std::vector<Key> keys_of(Machine& machine) {
  std::vector<Key> keys = {
      {"memory.device", BytesField{&machine.device_bytes}, kUnknown, "bytes per rank",
       "Memory of one device; on a CPU node none: main memory is."},
      {"memory.host", BytesField{&machine.host_bytes}, kUnknown, "bytes per node", "Main memory."},
      {"memory.nvme", BytesField{&machine.nvme_bytes}, kUnknown, "bytes per node",
       "Room for spill files."},
      {"ranks", IntegerField{&machine.node_ranks, 1}, "", "per node",
       "Ranks, one for each device."},
      {"nvme.endurance", BytesField{&machine.nvme_endurance_bytes, 1}, "", "bytes per node",
       "What may be written to the drives in their life."},
      {"nvme.drives", IntegerField{&machine.nvme_drives, 1}, "", "per node",
       "Drives that share what is written, all alike."},
      {"nvme.rated_amplification", RealField{&machine.nvme_rated_amplification, 1, kMostWear}, "",
       "", "How much the rating takes each written byte to wear the cells."},
      {"nvme.write_amplification", RealField{&machine.nvme_write_amplification, 1, kMostWear}, "",
       "", "How much a byte of large writes wears them."},
      {"nvme.retention_gain", RealField{&machine.nvme_retention_gain, 1, kMostWear}, "", "",
       "How many times more writes cells last that keep data for a day and not for years."},
      {"power_w", RealField{&machine.power_w, 0, kMost, true}, kUnknown, "per rank",
       "What one rank draws with its share of the node."},
      {"price_per_hour", RealField{&machine.price_per_hour, 0, kMost, true}, kUnknown, "per rank",
       "What one rank costs with its share of the node, in any currency."},
  };
  for (MachineField const& field : machine_fields()) {
    // A rate must be above 0, because 0 stands for an unknown rate. A cost may be 0.
    RealField const real{&(machine.*field.at), 0, kMost, field.more_is_better};
    keys.push_back({field.key, real, kUnknown, "", field.doc});
  }
  // Keys with the same first part form one nested map in the file, so they must follow each other.
  auto const group = [](Key const& key) { return key.name.substr(0, key.name.find('.')); };
  std::ranges::stable_sort(keys, {}, group);
  return keys;
}

struct Table {
  std::string_view name;
  Numbers Machine::*at;
  std::string_view doc;
};
constexpr Table kTables[] = {
    {kKinds, &Machine::kind_giga_per_s,
     "By kind of op: GFLOP/s where it counts flops, else GB/s of traffic."},
    {"ops", &Machine::op_s, "Seconds of single ops."},
};

void require_map(Value const& value, std::string const& source, std::string_view name) {
  if (value.kind != Value::Kind::map)
    refuse({fmt::format("{}:{}", source, value.line), std::string(name)},
           "expected a map, got " + describe(value));
}

// Returns "attention" for "attention 64", the rate of heads of 64 columns, and other keys as they
// are.
std::string_view without_head_size(std::string_view key) {
  auto const at = key.find(' ');
  auto const kind = key.substr(0, at);
  bool const has_heads = kind == "attention" || kind == "attention_backward";
  if (!has_heads || at == std::string_view::npos || at + 1 == key.size()) return key;
  return key.find_first_not_of("0123456789", at + 1) == std::string_view::npos ? kind : key;
}

// Refuses a key that is no kind of op, nor one with the host lane's prefix before it.
void check_kind(std::string const& key, Place const& place) {
  static auto const names = [] {
    std::vector<std::string> result;
#define SPILLWAY_OP(name, rule, operands) result.insert(result.end(), {#name, "host " #name});
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
    return result;
  }();
  if (std::ranges::count(names, without_head_size(key)) > 0) return;
  auto const nearest = nearest_name(key, names);
  refuse(place, "unknown kind of op" +
                    (nearest.empty() ? "; docs/ops.md lists all" : did_you_mean(nearest)));
}

void read_table(Numbers& numbers, Value const& value, std::string const& source,
                std::string_view name) {
  require_map(value, source, name);
  for (auto const& [key, line, number] : value.entries) {
    Place const here{fmt::format("{}:{}", source, line), fmt::format("{}.{}", name, key)};
    if (name == kKinds) check_kind(key, here);
    double const read = read_real(number, here);
    if (!(read > 0)) refuse(here, fmt::format("{} is not above 0", number.text));
    if (read >= kMost) refuse(here, fmt::format("{} is not below {}", number.text, kMost));
    numbers[key] = read;
  }
}

About read_about(Value const& value, std::string const& source) {
  require_map(value, source, kAbout);
  About about;
  for (auto const& [key, line, text] : value.entries)
    about.emplace_back(key, read_text(text, {fmt::format("{}:{}", source, line), key}));
  return about;
}

std::string read_target(Value const& value, Place const& place) {
  auto target = read_text(value, place);
  if (!is_target(target))
    refuse(place, fmt::format("'{}' is none: it is host, or an NVIDIA architecture such as sm_90",
                              target));
  return target;
}

// Removes `key` from the map of a file and returns its value, or nothing if the map lacks `key`.
std::optional<Value> taken(Value& root, std::string_view key) {
  auto const found = std::ranges::find(root.entries, key, &Entry::key);
  if (found == root.entries.end()) return std::nullopt;
  auto value = std::move(found->value);
  root.entries.erase(found);
  return value;
}

// Throws Error(bad_input) if numbers contradict each other or if there are too many threads.
void check(Machine const& machine, Origins const& origins, std::string const& source) {
  auto const refuse_key = [&](std::string const& key, std::string const& why) {
    auto const found = origins.find(key);
    refuse({found == origins.end() ? source : found->second, key}, why);
  };
  bool const names_target = origins.contains(kTarget);
  if (machine.is_unified() && machine.target != kHostTarget)
    refuse_key(std::string(kTarget), machine.target + " has memory of its own; give memory.device");
  if (!machine.is_unified() && !names_target)
    refuse_key(
        "memory.device",
        "a device has memory of its own, and what its kernels are made for is not said; give "
        "target, such as sm_90");
  double const alone = machine.nvme_read_gbps + machine.nvme_write_gbps;
  if (machine.nvme_both_gbps > alone)
    refuse_key("nvme.both_gbps",
               fmt::format("{} is more than reading and writing come to alone, {}",
                           machine.nvme_both_gbps, alone));
  if (machine.host_threads() > kMostThreads)
    refuse_key("cores.host", fmt::format("{} is more than {}", machine.host_cores, kMostThreads));
  if (machine.compute_cores > machine.cores)
    refuse_key("cores.compute",
               fmt::format("{} of {} cores.all", machine.compute_cores, machine.cores));
}

Profile profile_of(Value root, std::string const& source) {
  Profile profile;
  auto& machine = profile.machine;
  if (auto const about = taken(root, kAbout)) profile.about = read_about(*about, source);
  for (Table const& table : kTables) {
    if (auto const value = taken(root, table.name))
      read_table(machine.*table.at, *value, source, table.name);
  }
  Origins origins;
  if (auto const at = std::ranges::find(root.entries, kTarget, &Entry::key);
      at != root.entries.end()) {
    auto const where = fmt::format("{}:{}", source, at->line);
    machine.target = read_target(at->value, {where, std::string(kTarget)});
    origins.emplace(kTarget, where);
    root.entries.erase(at);
  }
  assign_keys(keys_of(machine), origins, root, source, "input/machines shows all");
  check(machine, origins, source);
  return profile;
}

}  // namespace

bool is_machine_key(std::string_view name) {
  if (name == kAbout || name == kTarget) return true;
  Machine any;
  return std::ranges::count(kTables, name, &Table::name) > 0 ||
         std::ranges::any_of(keys_of(any), [&](Key const& key) { return key.is_in(name); });
}

Profile parse_profile(std::string const& text, std::string const& source) {
  return profile_of(parse_yaml(text, source), source);
}

Machine load_machine(std::string const& path) {
  return profile_of(read_yaml(path), path).machine;
}

void require_rates(Machine const& machine, RatesAsked const& asked, std::string const& source) {
  auto const require = [&](double rate, std::string const& key, std::string const& why) {
    if (rate <= 0) refuse({source, key}, fmt::format("not known, and {}; give it", why));
  };
  auto const product = asked.bf16 ? machine.matmul_gflops_bf16 : machine.matmul_gflops_f32;
  if (!machine.kind_giga_per_s.contains("matmul"))
    require(product, asked.bf16 ? "matmul_gflops.bf16" : "matmul_gflops.fp32",
            "products take nearly all of a step");
  require(machine.memory_gbps, "memory_gbps", "all other ops go by it");
  if (asked.spill) {
    require(machine.nvme_write_gbps, "nvme.write_gbps", "plans may spill (memory.nvme)");
    require(machine.nvme_read_gbps, "nvme.read_gbps", "plans may spill (memory.nvme)");
  }
  if (machine.is_unified()) return;
  require(machine.h2d_gbps, "links.h2d_gbps", "state may come from host memory");
  require(machine.d2h_gbps, "links.d2h_gbps", "state may go to host memory");
  for (char const* const kind : {"host adamw", "host square_norm", "host accumulate"})
    require(number_or(machine.kind_giga_per_s, kind, 0), fmt::format("{}.{}", kKinds, kind),
            "updates may run on the host");
  if (asked.ranks == 1) return;
  require(number_or(machine.kind_giga_per_s, "host tree_sum", 0), "kinds.host tree_sum",
          "ranks sum gradients on the host");
  require(std::max(machine.node_gbps, machine.network_gbps),
          asked.ranks > machine.node_ranks ? "links.network_gbps" : "links.node_gbps",
          "ranks exchange gradients");
}

std::string to_yaml(Machine const& machine, About const& about) {
  auto copy = machine;
  std::string text;
  if (!about.empty()) text += fmt::format("{}{}:\n", kMeasuredHead, kAbout);
  for (auto const& [key, value] : about)
    text += fmt::format("  {}: {}\n", quoted_yaml(key), quoted_yaml(value));
  text += fmt::format("# {}\n{}: {}\n", kTargetDoc, kTarget, machine.target);
  text += nested_yaml(keys_of(copy), [](Key const& key) { return std::string(key.doc); });
  for (Table const& table : kTables) {
    auto const& numbers = machine.*table.at;
    if (numbers.empty()) continue;
    text += fmt::format("# {}\n{}:\n", table.doc, table.name);
    for (auto const& [key, number] : numbers)
      text += fmt::format("  {}: {}\n", quoted_yaml(key), number);
  }
  return text;
}

}  // namespace spillway
