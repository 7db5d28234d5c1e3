#include "huggingface/model_directory.hpp"

#include <fmt/core.h>

#include <utility>

#include "base/error.hpp"
#include "huggingface/adapter_files.hpp"
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
  auto const file = path / kAdapterConfig;
  if (!is_name_taken(file)) return;
  if (!is_model_directory(path))
    throw Error(
        Status::bad_input,
        fmt::format("{}: are adapters of PEFT, and no model; model.import of an input file "
                    "takes them and trains them on, generate and eval take them as they are",
                    path.string()));
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

CarriedFiles ModelDirectory::carried(fs::path const& own) const {
  auto files = read_model_files(own.empty() ? FileFolders(m_path) : FileFolders(own, m_path));
  files.push_back({kTypesFile, kFileMode, to_json(m_types)});
  return files;
}

std::string not_a_model(std::string const& path) {
  auto const slash = path.find('/');
  bool const may_be_of_hub = slash != path.npos && slash > 0 && slash == path.rfind('/') &&
                             slash + 1 < path.size() && path.front() != '.';
  return path + " is no directory of a model here" +
         (may_be_of_hub ? fmt::format("; of the Hugging Face hub nothing is fetched: `hf download "
                                      "{} --local-dir DIR` does (or huggingface-cli download)",
                                      path)
                        : "");
}

ModelDescription describe_directory(fs::path const& path) {
  std::error_code ignored;  // what cannot be looked at is told when it is read
  if (!fs::exists(path, ignored)) throw Error(Status::bad_input, not_a_model(path.string()));
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
