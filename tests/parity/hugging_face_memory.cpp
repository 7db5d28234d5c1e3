// A model passes import and export in a few megabytes, whatever its size: what the kernel counted.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "huggingface/match_tensors.hpp"
#include "io/safetensors/writer.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test::hugging_face_memory_test {
namespace {

namespace fs = std::filesystem;

// 34 MB a layer and 134 MB besides, as bf16.
std::string config_of(std::int64_t layers) {
  return fmt::format(
      R"({{"architectures": ["LlamaForCausalLM"], "num_hidden_layers": {}, "hidden_size": 1024,
          "num_attention_heads": 8, "num_key_value_heads": 8, "intermediate_size": 4096,
          "vocab_size": 32768}})",
      layers);
}

std::int64_t write_model(fs::path const& directory, std::int64_t layers) {
  auto entries = parameters_of(describe_model(config_of(layers), "test").model);
  for (auto& entry : entries) entry.type = ElementType::bf16;
  SafetensorsWriter writer(directory, TensorList(entries));
  std::vector<std::byte> const tile(2 << 20, std::byte{0x3c});
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto const elements = element_count(entries[i]);
    for (std::int64_t at = 0; at < elements; at += 1 << 20) {
      auto const count = std::min<std::int64_t>(1 << 20, elements - at);
      writer.write(i, at, std::span(tile).first(static_cast<std::size_t>(2 * count)));
    }
    bytes += 2 * elements;
  }
  writer.finish();
  std::ofstream(directory / "config.json") << config_of(layers);
  return bytes;
}

// The largest resident memory of a command that ends well.
std::int64_t peak_bytes(std::string const& words) {
  auto const command = fmt::format("exec {} {} >/dev/null", spillway_command(0), words);
  auto const child = ::fork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  int status = -1;
  rusage used{};
  EXPECT_EQ(::wait4(child, &status, 0, &used), child);
  EXPECT_EQ(status, 0) << command;
  return used.ru_maxrss * 1024;
}

struct Peaks {
  std::int64_t model_bytes, import_bytes, export_bytes;
};

Peaks peaks(std::int64_t layers) {
  auto const dir = scratch_directory(fmt::format("hugging_face_memory_{}", layers));
  auto const model_bytes = write_model(dir / "model", layers);
  auto const path = [&](char const* name) { return (dir / name).string(); };
  auto const import_bytes =
      peak_bytes(fmt::format("import {} -o {}", path("model"), path("checkpoint")));
  auto const export_bytes =
      peak_bytes(fmt::format("export {} -o {}", path("checkpoint"), path("back")));
  fs::remove_all(dir);
  return {model_bytes, import_bytes, export_bytes};
}

// Where all is taken: one of 3 GB, which is a matter of minutes.
TEST(HuggingFaceMemory, does_not_grow_with_the_model) {
  constexpr std::int64_t mib = 1 << 20;
  bool const large = takes_all();
  auto const [model_bytes, import_bytes, export_bytes] = peaks(large ? 90 : 5);
  EXPECT_GT(model_bytes, large ? 3'000'000'000 : 300'000'000);
  auto const empty_bytes = peak_bytes("--version");
  // The largest tensor has 64 MiB.
  EXPECT_LT(import_bytes - empty_bytes, 32 * mib) << import_bytes;
  EXPECT_LT(export_bytes - empty_bytes, 32 * mib) << export_bytes;
}

}  // namespace
}  // namespace spillway::test::hugging_face_memory_test
