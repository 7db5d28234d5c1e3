#include "records/chat_template.hpp"

#include <fmt/core.h>

#include <array>
#include <system_error>

#include "base/error.hpp"
#include "base/input_file.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostBytes = 64 << 20;
constexpr char const* kConfigFile = "tokenizer_config.json";

bool is_file_there(fs::path const& path) {
  std::error_code ignored;  // what cannot be looked at is told when it is read
  return fs::exists(path, ignored);
}

Json object_in(fs::path const& path) {
  if (!is_file_there(path)) return Json::object();
  auto json = Json::parse(read_input(path, kMostBytes), nullptr, false);
  if (!json.is_object()) throw Error(Status::bad_input, path.string() + ": is no JSON object");
  return json;
}

// A token is written as its text, or as an object with its content.
void add_token(Json const& file, char const* key, Json& to) {
  auto const found = file.find(key);
  if (found == file.end() || to.contains(key)) return;
  if (found->is_string()) to[key] = *found;
  if (found->is_object() && found->contains("content") && found->at("content").is_string())
    to[key] = found->at("content");
}

Json tokens_named_in(FileFolders const& folders, Json const& config) {
  constexpr std::array keys = {"bos_token", "eos_token", "unk_token", "sep_token",
                               "pad_token", "cls_token", "mask_token"};
  auto const other = object_in(folders.file("special_tokens_map.json"));
  Json tokens = Json::object();
  for (auto const* const key : keys)
    for (auto const* const file : {&config, &other}) add_token(*file, key, tokens);
  return tokens;
}

// Several templates have names, of which one is `default`.
std::string template_in(Json const& config, fs::path const& path) {
  auto const found = config.find("chat_template");
  if (found == config.end() || found->is_null()) return "";
  if (found->is_string()) return found->get<std::string>();
  if (found->is_array())
    for (auto const& one : *found)
      if (one.is_object() && one.value("name", Json()) == "default" &&
          one.value("template", Json()).is_string())
        return one.at("template").get<std::string>();
  throw Error(Status::bad_input,
              fmt::format("{}: chat_template: is neither a text nor a list with one that is called "
                          "`default`",
                          path.string()));
}

}  // namespace

jinja::Rendered ChatTemplate::render(Json const& messages, Json const& more, bool asks) const {
  Json variables = m_tokens;
  variables["tools"] = nullptr;
  variables["documents"] = nullptr;
  for (auto const& [name, value] : more.items()) variables[name] = value;
  variables["messages"] = messages;
  variables["add_generation_prompt"] = asks;
  return m_template.render(variables);
}

std::optional<ChatTemplate> open_chat_template(FileFolders const& folders) {
  auto const config_path = folders.file(kConfigFile);
  auto const config = object_in(config_path);
  for (auto const& folder : folders) {
    auto const own = folder / "chat_template.jinja";
    bool const has_own = is_file_there(own);
    auto const its_config = folder / kConfigFile;
    auto const source =
        has_own
            ? read_input(own, kMostBytes)
            : template_in(its_config == config_path ? config : object_in(its_config), its_config);
    if (source.empty()) continue;
    auto const name = has_own ? own.string() : its_config.string() + ": chat_template";
    return ChatTemplate(jinja::Template(source, name), tokens_named_in(folders, config));
  }
  return {};
}

}  // namespace spillway
