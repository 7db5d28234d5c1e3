#include "tokenizer/post_processor.hpp"

#include <string>

#include "tokenizer/by_type.hpp"

namespace spillway {
namespace {

AroundText nothing_processor(JsonNode const&) {
  return {};
}

// Both are written as ["[SEP]", 102].
AroundText cls_and_sep_processor(JsonNode const& node) {
  auto const id_of = [&](char const* key) {
    auto const both = node.at(key).elements();
    if (both.size() != 2) node.at(key).refuse("is no token with its id");
    return both[1].as_id();
  };
  return {{id_of("cls")}, {id_of("sep")}};
}

AroundText template_processor(JsonNode const& node) {
  AroundText around;
  bool is_behind = false;
  for (auto const& one : node.at("single").elements()) {
    if (one.has("Sequence")) {
      is_behind = true;
      continue;
    }
    auto const token = one.at("SpecialToken").text("id");
    auto const list = node.at("special_tokens").at(token.c_str()).at("ids");
    for (auto const& id : list.elements())
      (is_behind ? around.after : around.before).push_back(id.as_id());
  }
  return around;
}

AroundText sequence_processor(JsonNode const& node) {
  AroundText all;
  for (auto const& one : node.at("processors").elements()) {
    auto const around = read_post_processor(one);
    all.before.insert(all.before.begin(), around.before.begin(), around.before.end());
    all.after.insert(all.after.end(), around.after.begin(), around.after.end());
  }
  return all;
}

}  // namespace

AroundText read_post_processor(JsonNode const& node) {
  static ByType<AroundText> const types = {{"ByteLevel", nothing_processor},
                                           {"BertProcessing", cls_and_sep_processor},
                                           {"RobertaProcessing", cls_and_sep_processor},
                                           {"TemplateProcessing", template_processor},
                                           {"Sequence", sequence_processor}};
  return read_by_type(types, node.text("type"), node);
}

}  // namespace spillway
