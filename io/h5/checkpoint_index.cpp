#include "io/h5/checkpoint_index.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/checksum.hpp"
#include "base/compact_json.hpp"
#include "base/error.hpp"
#include "base/math.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_json.hpp"

namespace spillway {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostElements = std::int64_t{1} << 48;
constexpr std::int64_t kMostRanks = std::int64_t{1} << 24;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 56;
constexpr std::size_t kMostAxes = 8, kMostNameBytes = 1024;
constexpr std::array kTypes = {ElementType::f32, ElementType::bf16, ElementType::i16,
                               ElementType::u8};

[[noreturn]] void fail(std::string const& what, std::string const& why) {
  throw Error(Status::damaged, fmt::format("{}: {}", what, why));
}

// Returns `name`. Throws if it is empty, too long, or has control characters; paths contain it.
std::string plain_name(std::string name, std::string const& source) {
  bool const plain =
      !name.empty() && name.size() <= kMostNameBytes &&
      std::ranges::none_of(name, [](unsigned char c) { return c < ' ' || c == 127; });
  if (!plain) fail(source, "a tensor or a file has an impossible name");
  return name;
}

std::int64_t bounded(Json const& number, std::int64_t most, std::string const& what) {
  if (!number.is_number_integer()) fail(what, "has no number where one must be");
  auto const value = number.get<std::int64_t>();
  bool const wraps =
      number.is_number_unsigned() &&
      number.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  if (wraps || value < 0 || value > most)
    fail(what, fmt::format("{} is impossible", number.dump()));
  return value;
}

// Adds an extent of the last tensor of `index`. Throws Error(damaged) if there cannot be such an
// extent.
void add_extent(Json const& entry, std::int64_t first, std::int64_t elements,
                std::string const& source, CheckpointIndex& index) {
  auto const number = index.tensors.size() - 1;
  auto const& info = index.tensors[number];
  auto const what = fmt::format("{}: {}", source, dataset_path(info.group, info.name));
  if (index.shards.empty()) fail(what, "has no shard to lie in");
  auto const shard =
      static_cast<std::size_t>(bounded(entry.at("shard"), std::ssize(index.shards) - 1, what));
  auto const offset_bytes = bounded(entry.at("offset"), kMostBytes, what);
  if (elements < 1 || elements > checked_elements(info.shape, what) - first)
    fail(what, "has an extent beyond its end");
  bool const follows = index.extents.empty() || index.extents.back().tensor < number ||
                       index.extents.back().first + index.extents.back().elements <= first;
  if (!follows) fail(what, "has extents that overlap");
  auto const bytes = elements * size_bytes(info.type);
  if (offset_bytes + bytes > index.shards[shard].bytes) fail(what, "lies beyond its shard's end");
  // Up to version 3, an extent is one block.
  auto const block = bounded(entry.value("block", Json(elements)), kMostElements, what);
  auto const sums = entry.at("xxh3").get<std::string>();
  if (block < 1 || std::ssize(sums) != kChecksumDigits * div_ceil(elements, block))
    fail(what, "has another number of checksums than of blocks");
  index.extents.push_back({number, first, elements, shard, offset_bytes, block, sums});
}

void add_extents(Json const& entry, std::string const& source, CheckpointIndex& index) {
  auto const elements = checked_elements(index.tensors.back().shape, source);
  // In version 2, a tensor has one extent, which the entry of the tensor describes.
  if (entry.contains("shard")) return add_extent(entry, 0, elements, source, index);
  for (auto const& extent : entry.at("extents")) {
    add_extent(extent, bounded(extent.at("first"), kMostElements, source),
               bounded(extent.at("elements"), kMostElements, source), source, index);
  }
}

TensorInfo info_of(Json const& entry, std::string const& source) {
  TensorInfo info{plain_name(entry.at("group"), source), plain_name(entry.at("name"), source), {}};
  for (auto const& extent : entry.at("shape"))
    info.shape.push_back(bounded(extent, kMostElements, source));
  // Up to version 3, all tensors are f32.
  auto const type = element_type(entry.value("type", std::string(name(ElementType::f32))));
  if (!type || std::ranges::count(kTypes, *type) == 0)
    fail(source, dataset_path(info.group, info.name) + ": has elements of an impossible type");
  info.type = *type;
  return info;
}

}  // namespace

std::int64_t checked_elements(std::span<std::int64_t const> shape, std::string const& what) {
  std::int64_t count = 1;
  bool possible = !shape.empty() && shape.size() <= kMostAxes;
  for (auto const extent : shape) {
    possible = possible && extent >= 1 && extent <= kMostElements / count;
    if (possible) count *= extent;
  }
  if (!possible) fail(what, "has an impossible shape");
  return count;
}

CheckpointIndex index_of(Json const& json, std::string const& source) {
  CheckpointIndex index;
  index.run_strings = json.at("run").get<std::map<std::string, std::string>>();
  for (auto const& shard : json.at("shards"))
    index.shards.push_back({static_cast<int>(bounded(shard.at("rank"), kMostRanks, source)),
                            bounded(shard.at("bytes"), kMostBytes, source), shard.at("rest")});
  std::set<std::string> paths;
  for (auto const& entry : json.at("tensors")) {
    auto info = info_of(entry, source);
    auto const path = dataset_path(info.group, info.name);
    if (!paths.insert(path).second) fail(source, path + ": is named twice");
    index.tensors.push_back(std::move(info));
    add_extents(entry, source, index);
  }
  return index;
}

Json json_of(CheckpointIndex const& index) {
  Json shards = Json::array(), tensors = Json::array();
  for (auto const& shard : index.shards)
    shards.push_back(
        {{"rank", shard.rank}, {"bytes", shard.bytes}, {"rest", shard.other_bytes_checksum}});
  for (auto const& tensor : index.tensors)
    tensors.push_back({{"group", tensor.group},
                       {"name", tensor.name},
                       {"type", name(tensor.type)},
                       {"shape", tensor.shape},
                       {"extents", Json::array()}});
  for (auto const& extent : index.extents)
    tensors[extent.tensor]["extents"].push_back({{"first", extent.first},
                                                 {"elements", extent.elements},
                                                 {"shard", extent.shard},
                                                 {"offset", extent.offset_bytes},
                                                 {"block", extent.block_elements},
                                                 {"xxh3", extent.checksums}});
  return {
      {"run", index.run_strings}, {"shards", std::move(shards)}, {"tensors", std::move(tensors)}};
}

Json json_of(CarriedSums const& sums) {
  Json json = Json::object();
  for (auto const& [name, sum] : sums) json[name] = {{"bytes", sum.bytes}, {"xxh3", sum.checksum}};
  return json;
}

CarriedSums carried_of(Json const& json, std::string const& source) {
  CarriedSums sums;
  for (auto const& [name, sum] : json.items()) {
    if (name == "." || name == ".." || name.find('/') != name.npos)
      fail(source, "carries a file with an impossible name");
    sums[plain_name(name, source)] = {bounded(sum.at("bytes"), kMostBytes, source), sum.at("xxh3")};
  }
  return sums;
}

std::string text_of(Json const& json) {
  return compact_json(json);
}

std::string to_json(CheckpointIndex const& index) {
  return text_of(json_of(index));
}

CheckpointIndex index_from_json(std::string const& text, std::string const& source) {
  try {
    return index_of(Json::parse(text), source);
  } catch (nlohmann::json::exception const&) {
    fail(source, "says nothing that can be understood");
  }
}

std::string checksum_of(CheckpointIndex const& index) {
  StreamingChecksum sum;
  auto const add = [&](std::string const& text) { sum.add(std::as_bytes(std::span(text))); };
  for (auto const& tensor : index.tensors) add(dataset_path(tensor.group, tensor.name) + "\n");
  for (auto const& extent : index.extents) add(extent.checksums);
  return checksum_text(sum.value());
}

void require_whole(CheckpointIndex const& index, std::string const& source) {
  // `next` has the element with which each tensor's next extent must begin.
  std::vector<std::int64_t> next(index.tensors.size(), 0);
  for (auto const& extent : index.extents) {
    bool const follows = next[extent.tensor] == extent.first;
    next[extent.tensor] = follows ? extent.first + extent.elements : -1;
  }
  for (std::size_t i = 0; i < next.size(); ++i) {
    auto const& tensor = index.tensors[i];
    if (next[i] == checked_elements(tensor.shape, source)) continue;
    fail(source, dataset_path(tensor.group, tensor.name) + ": is not there as a whole");
  }
}

}  // namespace spillway
