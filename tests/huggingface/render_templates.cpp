// Renders templates by lib/jinja alone: each line of stdin is {"template": TEXT, "variables":
// {..}}, each line of stdout {"text": TEXT, "generated": [[begin, end], ..]} or {"refused": WHY}.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.hpp"
#include "jinja/template.hpp"

namespace {

using Json = nlohmann::ordered_json;

Json rendered(Json const& asked) {
  try {
    spillway::jinja::Template const made(asked.at("template").get<std::string>(), "template");
    auto const [text, generated] = made.render(asked.at("variables"));
    Json answer = {{"text", text}, {"generated", Json::array()}};
    for (auto const& [begin, end] : generated) answer["generated"].push_back({begin, end});
    return answer;
  } catch (spillway::Error const& error) {
    return {{"refused", error.what()}};
  }
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << rendered(Json::parse(line)).dump() << '\n';
}
