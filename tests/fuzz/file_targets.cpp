#include "file_targets.hpp"

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <stdexcept>

#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_masters.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/h5/checkpoint_seal.hpp"
#include "io/h5/shard_writer.hpp"
#include "io/tokens/token_file.hpp"
#include "io/tokens/token_head.hpp"
#include "io/tokens/token_writer.hpp"

namespace spillway::test {
namespace {

namespace fs = std::filesystem;

// All that a run takes from a checkpoint.
struct Contents {
  std::map<std::string, std::string> run_strings;
  std::map<std::string, std::vector<std::byte>> tensors;
  bool operator==(Contents const&) const = default;
};

Contents contents_of(fs::path const& directory) {
  CheckpointReader reader(directory);
  Contents contents{reader.run_strings(), {}};
  for (auto const& [group, name, shape, type] : reader.tensors()) {
    auto const count =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    auto& values = contents.tensors[dataset_path(group, name)];
    values.resize(static_cast<std::size_t>(count * size_bytes(type)));
    reader.read(group, name, 0, values);
  }
  CheckpointMasters masters(reader);
  for (std::size_t i = 0; i < masters.tensors().size(); ++i) {
    auto& values = contents.tensors["master of " + masters.tensors()[i].name];
    values.resize(static_cast<std::size_t>(size_bytes(masters.tensors()[i])));
    masters.read(i, 0, values);
  }
  return contents;
}

void write_checkpoint(fs::path const& directory) {
  fs::create_directories(directory);
  CheckpointLayout const layout{{{"model", "wte.weight", {40, 32}},
                                 {"model", "ln.bias", {7}},
                                 {"model", "half", {14}, ElementType::bf16},
                                 {"optimizer/m", "ln.bias", {7}},
                                 {"optimizer/remainder", "half", {14}, ElementType::i16}},
                                {{0, 0, 0, 1000},
                                 {0, 1, 1000, 280},
                                 {1, 0, 0, 7},
                                 {2, 0, 0, 14},
                                 {3, 1, 0, 7},
                                 {4, 0, 0, 14}}};
  for (int const rank : {0, 1}) {
    ShardWriter writer(directory, rank, layout);
    for (auto const& [number, by, first, elements] : layout.extents) {
      if (by != rank) continue;
      std::vector<float> values(static_cast<std::size_t>(elements));
      std::iota(values.begin(), values.end(), static_cast<float>(first) + 0.25f);
      auto const& tensor = layout.tensors[number];
      auto const bytes = static_cast<std::size_t>(elements * size_bytes(tensor.type));
      writer.write(tensor.group, tensor.name, first, std::as_bytes(std::span(values)).first(bytes));
    }
    writer.close();
  }
  write_manifest(directory, layout, {{"step", "4"}, {"samples", "32"}, {"config", "model: {}\n"}});
}

// One file of a sealed checkpoint: whatever is not refused must be what was written.
FuzzTarget sealed_part(std::string const& target, fs::path const& directory,
                       std::string const& file) {
  write_checkpoint(directory);
  auto const sound = read_file(directory / file);
  auto const expected = contents_of(directory);
  return {target, {sound}, [=](std::string const& bytes) {
            write_file(directory / file, bytes);
            if (contents_of(directory) != expected)
              throw std::logic_error("a changed " + file + " is believed");
          }};
}

// One file of a checkpoint without a seal, read in a child process: it need only end.
FuzzTarget old_part(std::string const& target, fs::path const& directory, std::string const& file) {
  fs::copy(SPILLWAY_SOURCE_DIR "/tests/goldens/version-1", directory);
  return {target, {read_file(directory / file)}, [=](std::string const& bytes) {
            write_file(directory / file, bytes);
            contents_of(directory);
          }};
}

std::vector<std::int32_t> tokens_of(fs::path const& path) {
  TokenFile const file(path);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(file.count()));
  file.read(0, tokens);
  return tokens;
}

FuzzTarget sealed_tokens(fs::path const& path) {
  TokenWriter writer(Output(path), "byte", 300, 3000, 2);
  std::vector<std::int32_t> tokens(3000);
  std::iota(tokens.begin(), tokens.end(), 0);
  for (auto& token : tokens) token %= 300;
  writer.append(tokens);
  writer.close(std::array<std::int64_t, 2>{0, 1000});
  return {"tokens", {read_file(path)}, [=](std::string const& bytes) {
            write_file(path, bytes);
            if (tokens_of(path) != tokens) throw std::logic_error("changed tokens are believed");
          }};
}

FuzzTarget old_tokens(fs::path const& path) {
  return {"old_tokens",
          {read_file(SPILLWAY_SOURCE_DIR "/tests/goldens/version-1/tokens.h5")},
          [=](std::string const& bytes) {
            write_file(path, bytes);
            tokens_of(path);
          }};
}

// It has no checksums: what is believed must be what stands in the file behind a header that fits.
FuzzTarget llmc_tokens(fs::path const& path) {
  std::array<std::int32_t, 256> header{20240520, 1, 500};
  std::string sound(1024 + 1000, '\7');
  std::memcpy(sound.data(), header.data(), 1024);
  return {"llmc_tokens", {sound}, [=](std::string const& bytes) {
            write_file(path, bytes);
            auto const tokens = tokens_of(path);
            std::vector<std::uint16_t> stored(tokens.size());
            if (bytes.size() != 1024 + 2 * tokens.size())
              throw std::logic_error("a wrong number of tokens is believed");
            std::memcpy(stored.data(), bytes.data() + 1024, 2 * stored.size());
            if (!std::equal(tokens.begin(), tokens.end(), stored.begin()))
              throw std::logic_error("other tokens than the file's are read");
          }};
}

// Behind a seal that fits: what somebody wrote on purpose.
FuzzTarget index(fs::path const& directory) {
  write_checkpoint(directory);
  auto const json = to_json(read_index(directory));
  return {"index", {json}, [](std::string const& bytes) {
            auto const index = index_from_json(bytes, "seal");
            require_whole(index, "seal");
            std::map<std::size_t, std::int64_t> elements;  // by tensor
            for (auto const& extent : index.extents) {
              auto const bytes = size_bytes(index.tensors.at(extent.tensor).type) * extent.elements;
              if (extent.offset_bytes + bytes > index.shards.at(extent.shard).bytes)
                throw std::logic_error("an extent beyond its shard is believed");
              elements[extent.tensor] += extent.elements;
            }
            for (std::size_t i = 0; i < index.tensors.size(); ++i)
              if (elements[i] != checked_elements(index.tensors[i].shape, "tensor"))
                throw std::logic_error("a tensor that is not whole is believed");
          }};
}

FuzzTarget head() {
  TokenLayout const layout{.kind = "HDF5",
                           .tokenizer = "byte",
                           .vocab = 256,
                           .count = 9,
                           .documents = 1,
                           .offset_bytes = 8192,
                           .token_bytes = 1};
  return {"head", {to_json(layout)}, [](std::string const& bytes) {
            auto const read = token_layout_from_json(bytes, "head");
            if (read.count < 0 || read.vocab < 1 || read.offset_bytes < 0 || read.token_bytes < 1)
              throw std::logic_error("an impossible head is believed");
          }};
}

}  // namespace

std::string read_file(fs::path const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(fs::path const& path, std::string const& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
}

std::vector<FuzzTarget> file_targets(fs::path const& scratch) {
  return {sealed_part("manifest", scratch / "manifest", manifest_name),
          sealed_part("seal", scratch / "seal", "seal"),
          sealed_part("shard", scratch / "shard", shard_name(0)),
          sealed_tokens(scratch / "tokens.h5"),
          llmc_tokens(scratch / "tokens.bin"),
          old_part("old_manifest", scratch / "old_manifest", manifest_name),
          old_part("old_shard", scratch / "old_shard", shard_name(0)),
          old_tokens(scratch / "old_tokens.h5"),
          index(scratch / "index"),
          head()};
}

}  // namespace spillway::test
