#include "plan/listing/program_json.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "plan/listing/read_json.hpp"
#include "plan/listing/references.hpp"
#include "plan/listing/write_json.hpp"
#include "plan/proof/check_shape.hpp"

namespace spillway {

namespace {

// What a file begins with, and the number of its form.
constexpr char const* kFormKey = "spillway_program";
constexpr int kForm = 1;

template <class T>
std::string lines_of(T const& value) {
  return json_of(value).dump();
}

template <List T>
requires std::is_class_v<typename T::value_type> std::string lines_of(T const& values) {
  std::string text = "[";
  for (auto const& value : values)
    text += (text.size() > 1 ? ",\n  " : "\n  ") + json_of(value).dump();
  return text + "\n ]";
}

Json parsed(std::string const& text, std::string const& source) {
  try {
    return Json::parse(text);
  } catch (nlohmann::json::parse_error const& error) {
    throw Error(Status::bad_input, fmt::format("{}: is no JSON, at byte {}", source, error.byte));
  } catch (nlohmann::json::exception const&) {
    throw Error(Status::bad_input, source + ": is no JSON");
  }
}

}  // namespace

std::string to_json(Program const& program) {
  auto text = fmt::format("{{\n \"{}\": {}", kFormKey, kForm);
  visit_fields(program, [&](std::string_view key, auto const& value) {
    text += fmt::format(",\n \"{}\": {}", key, lines_of(value));
  });
  return text + "\n}\n";
}

Program program_from_json(std::string const& text, std::string const& source) {
  auto json = parsed(text, source);
  if (!json.is_object() || !json.contains(kFormKey) || json[kFormKey] != Json(kForm))
    throw Error(Status::bad_input, fmt::format("{}: {}: must be {}", source, kFormKey, kForm));
  json.erase(kFormKey);
  Program program;
  read_json(json, JsonPlace{source}, program);
  if (auto const wrong = wrong_reference(program); !wrong.empty())
    throw Error(Status::bad_input, fmt::format("{}: {}", source, wrong));
  if (auto const wrong = check_shape(program))
    throw Error(Status::bad_input, fmt::format("{}: {}", source, wrong->why));
  return program;
}

}  // namespace spillway
