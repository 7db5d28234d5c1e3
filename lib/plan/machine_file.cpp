#include "plan/machine_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/assign.hpp"
#include "config/print.hpp"
#include "config/scalar.hpp"

namespace spillway {

namespace {

constexpr std::string_view kUnknown = "unknown";

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
  };
  for (MachineField const& field : machine_fields())
    keys.push_back({field.key, RealField{&(machine.*field.at)}, kUnknown, "", field.doc});
  // Groups hold together, as nested maps want it.
  auto const group = [](Key const& key) { return key.name.substr(0, key.name.find('.')); };
  std::ranges::stable_sort(keys, {}, group);
  return keys;
}

using Numbers = std::map<std::string, double, std::less<>>;
struct Table {
  std::string_view name;
  Numbers Machine::*at;
  std::string_view doc;
};
constexpr Table kTables[] = {
    {"kinds", &Machine::kind_giga_per_s,
     "By kind of op: GFLOP/s where it counts flops, else GB/s of traffic."},
    {"ops", &Machine::op_s, "Seconds of single ops."},
};

void read_table(Numbers& numbers, Value const& value, std::string const& source,
                std::string_view name) {
  Place const place{fmt::format("{}:{}", source, value.line), std::string(name)};
  if (value.kind != Value::Kind::map) refuse(place, "expected a map, got " + describe(value));
  for (auto const& [key, line, number] : value.entries) {
    Place const here{fmt::format("{}:{}", source, line), fmt::format("{}.{}", name, key)};
    double const read = read_real(number, here);
    if (!(read > 0)) refuse(here, fmt::format("{} is not above 0", number.text));
    numbers[key] = read;
  }
}

// What no machine can be.
void check(Machine const& machine, Origins const& origins, std::string const& source) {
  auto const refuse_key = [&](std::string const& key, std::string const& why) {
    auto const found = origins.find(key);
    refuse({found == origins.end() ? source : found->second, key}, why);
  };
  double const alone = machine.nvme_read_gbps + machine.nvme_write_gbps;
  if (machine.nvme_both_gbps > alone)
    refuse_key("nvme.both_gbps",
               fmt::format("{} is more than reading and writing come to alone, {}",
                           machine.nvme_both_gbps, alone));
  if (machine.compute_cores > machine.cores)
    refuse_key("cores.compute",
               fmt::format("{} of {} cores.all", machine.compute_cores, machine.cores));
}

Machine machine_of(Value root, std::string const& source) {
  Machine machine;
  for (Table const& table : kTables) {
    auto const is_it = [&](Entry const& entry) { return entry.key == table.name; };
    auto const found = std::ranges::find_if(root.entries, is_it);
    if (found == root.entries.end()) continue;
    read_table(machine.*table.at, found->value, source, table.name);
    root.entries.erase(found);
  }
  Origins origins;
  assign_keys(keys_of(machine), origins, root, source, "input/machines shows all");
  check(machine, origins, source);
  return machine;
}

}  // namespace

Machine parse_machine(std::string const& text, std::string const& source) {
  return machine_of(parse_yaml(text, source), source);
}

Machine load_machine(std::string const& path) {
  return machine_of(read_yaml(path), path);
}

std::string to_yaml(Machine const& machine) {
  auto copy = machine;
  auto text = nested_yaml(keys_of(copy), [](Key const& key) { return std::string(key.doc); });
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
