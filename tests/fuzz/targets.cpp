#include "targets.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.hpp"
#include "config/load.hpp"
#include "file_targets.hpp"
#include "huggingface_targets.hpp"
#include "plan/data/machine_file.hpp"
#include "profile/profile_cache.hpp"
#include "program_target.hpp"
#include "record_targets.hpp"
#include "safetensors_targets.hpp"
#include "tests/support/small_machine.hpp"
#include "tokenizer_targets.hpp"

namespace spillway::test {
namespace {

namespace fs = std::filesystem;

FuzzTarget yaml() {
  return {"yaml",
          {"model: {family: gpt, layers: 2, hidden: 64, heads: 2, vocab: 256}\n"
           "data: {train: [a.h5, \"b*.h5\"], sequence: 64}\nbatch:\n  sequences: 8\n  micro: 4\n"
           "memory: {device: 64MiB, nvme: {path: /nvme, size: 1GiB}}\nprecision: fp32\n"
           "plan: {activations: [keep, nvme:0.5], optimizer: device}\nrun: {max_time: 3h50m}\n"},
          [](std::string const& bytes) { parse_config(bytes, "input.yaml"); }};
}

FuzzTarget machine() {
  return {"machine",
          {read_file(SPILLWAY_SOURCE_DIR "/input/machines/rtx3090.yaml")},
          [](std::string const& bytes) { parse_profile(bytes, "machine.yaml"); }};
}

// Sealed: whatever is not refused must be what was measured. The text behind the seal is read too.
FuzzTarget profile(fs::path const& directory) {
  About const key = {{"cpu", "a"}, {"threads", "2"}};
  auto const text = sealed_profile(key, small_machine());
  auto const expected = to_yaml(small_machine());
  return {"profile", {text}, [=](std::string const& bytes) {
            ProfileCache const cache(directory);
            write_file(cache.file(key), bytes);
            auto const found = cache.find(key);
            if (found.trouble.find('\n') != std::string::npos)
              throw std::logic_error("several lines: " + found.trouble);
            if (found.trouble.empty() && to_yaml(found.machine) != expected)
              throw std::logic_error("a changed profile is believed");
            parse_profile(bytes, "profile.yaml");
          }};
}

// In memory where that can be: thousands of files are written.
struct ScratchDirectory {
  fs::path const path = (fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path()) /
                        fs::path(fmt::format("spillway-fuzz-{}", ::getpid()));
  ScratchDirectory() { fs::create_directories(path); }
  ~ScratchDirectory() { fs::remove_all(path); }
};

std::vector<FuzzTarget> make_targets() {
  static ScratchDirectory const scratch;
  std::vector<FuzzTarget> targets = {yaml(), machine(), profile(scratch.path)};
#ifndef SPILLWAY_WITHOUT_PROGRAMS  // some compilers of fuzzers know too little C++
  targets.push_back(program_target());
#endif
  for (auto& target : file_targets(scratch.path)) targets.push_back(std::move(target));
  for (auto& target : safetensors_targets(scratch.path)) targets.push_back(std::move(target));
  for (auto& target : huggingface_targets()) targets.push_back(std::move(target));
  for (auto& target : tokenizer_targets(scratch.path)) targets.push_back(std::move(target));
  for (auto& target : record_targets()) targets.push_back(std::move(target));
  return targets;
}

}  // namespace

std::vector<FuzzTarget> const& fuzz_targets() {
  static auto const targets = make_targets();
  return targets;
}

FuzzTarget const& fuzz_target(std::string const& name) {
  auto const found = std::ranges::find(fuzz_targets(), name, &FuzzTarget::name);
  if (found == fuzz_targets().end()) throw std::logic_error("no fuzz target is called " + name);
  return *found;
}

void fuzz_once(FuzzTarget const& target, std::string const& bytes) {
  try {
    target.read(bytes);
  } catch (Error const& error) {
    std::string const what = error.what();
    if (what.empty() || what.find('\n') != std::string::npos)
      throw std::logic_error(fmt::format("{}: not one line: '{}'", target.name, what));
  }
}

}  // namespace spillway::test
