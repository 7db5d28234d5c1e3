#include "huggingface/model_directory.hpp"

#include <fmt/core.h>

#include <utility>

#include "base/error.hpp"
#include "huggingface/imported_config.hpp"
#include "huggingface/model_files.hpp"
#include "huggingface/special_ids.hpp"
#include "io/file/inside.hpp"

namespace spillway {

namespace fs = std::filesystem;

namespace {

// Throws if the directory has an adapter (such as LoRA's matrices), which transformers would apply
// to the weights and this program would not.
void refuse_adapter(fs::path const& path) {
  std::error_code ignored;  // if this fails, reading the weights says why
  auto const file = path / "adapter_config.json";
  if (!fs::exists(fs::symlink_status(file, ignored))) return;
  throw Error(Status::bad_input,
              fmt::format("{}: an adapter is not applied to weights here: save the model with it "
                          "(peft's merge_and_unload), or remove this file",
                          file.string()));
}

}  // namespace

ModelDirectory::ModelDirectory(fs::path const& path)
    : m_path(path),
      m_description(describe_directory(path)),
      m_files(path),
      m_tensors(match()),
      m_types(types_of(m_tensors.tensors())) {}

NamedSource ModelDirectory::match() {
  auto matched = match_tensors(
      m_description, m_files.tensors(), place(),
      [this](auto one, auto other) { return have_equal_values(m_files, one, other); });
  m_description.model = std::move(matched.model);
  return {m_files, matched.tensors};
}

void ModelDirectory::read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) {
  m_tensors.read(tensor, first, to);
}

Config ModelDirectory::config() const {
  return config_of(m_path, m_description, m_types.usual);
}

CarriedFiles ModelDirectory::carried() const {
  auto files = read_model_files(m_path);
  files.push_back({kTypesFile, kFileMode, to_json(m_types)});
  return files;
}

ModelDescription describe_directory(fs::path const& path) {
  refuse_adapter(path);
  auto const file = path / kConfigFile;
  return describe_model(read_inside(path, kConfigFile, kMostConfigBytes), file.string());
}

Config config_of(fs::path const& path, ModelDescription const& description, ElementType type) {
  auto config = imported_config(description.model, type);
  read_special_ids(path, description, config.data);
  return config;
}

bool is_model_directory(fs::path const& path) {
  std::error_code ignored;  // if this fails, reading the directory says why
  return fs::exists(path / kConfigFile, ignored);
}

}  // namespace spillway
