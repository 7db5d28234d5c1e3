// JSON of strangers and what is shown of it, patterns of names, the words of activations.
#include "huggingface/activation_words.hpp"
#include "huggingface/json_object.hpp"
#include "huggingface/pattern.hpp"
#include "huggingface/tensor_types.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/huggingface/huggingface_case.hpp"

namespace spillway::huggingface_json_test {
namespace {

std::string line_of(std::string const& text, std::string_view dropped = {}) {
  return test::refused_with([&] { parse_object(text, "here", dropped); });
}

TEST(JsonObject, has_all_but_what_is_dropped_of_its_own_keys) {
  std::string const text = R"({"a": {"model": 1, "b": [2, {"model": 3, "c": {}}]}, "b": "model",
    "model": {"x": [1, {"y": {"z": 2}}, []], "b": 4}, "models": 5, "z": [[6], 7]})";
  auto expected = Json::parse(text);
  EXPECT_EQ(parse_object(text, "here"), expected);
  expected.erase("model");
  EXPECT_EQ(parse_object(text, "here", "model"), expected);
  for (auto const* const value : {"3", "null", R"("gpt")", "[1, [2]]", "[{}, 1]"})
    EXPECT_EQ(parse_object(std::string(R"({"b": 1, "model": )") + value + R"(, "c": {"d": 2}})",
                           "here", "model"),
              (Json{{"b", 1}, {"c", {{"d", 2}}}}))
        << value;
}

TEST(JsonObject, nests_as_deep_as_32_levels) {
  auto const lists = [](int levels) {
    auto const count = static_cast<std::size_t>(levels - 1);
    return R"({"a": )" + std::string(count, '[') + std::string(count, ']') + R"(, "b": 1})";
  };
  auto const maps = [](int levels) {
    std::string text = "{}";
    for (int i = 1; i < levels; ++i) text = R"({"k": )" + text + "}";
    return text;
  };
  EXPECT_EQ(parse_object(lists(32), "here")["b"], 1);
  EXPECT_EQ(line_of(lists(33)), "here: a: nests too many values in each other");
  EXPECT_EQ(parse_object(maps(32), "here").dump().size(), maps(32).size() - 31);
  std::string path = "k";
  for (int i = 1; i < 32; ++i) path += ".k";
  EXPECT_EQ(line_of(maps(33)), "here: " + path + ": nests too many values in each other");
}

TEST(JsonObject, a_key_may_come_again_in_another_map) {
  EXPECT_EQ(line_of(R"({"a": {"a": {"a": 1}, "b": 2}, "b": [{"a": 1}, {"a": 2}]})"), "");
  EXPECT_EQ(line_of(R"({"a": {"b": 1}, "a": 2})"), "here: a: is given twice");
  EXPECT_EQ(line_of(R"({"model": {"b": 1, "b": 2}, "model": 2})", "model"),
            "here: model: is given twice");
  EXPECT_EQ(line_of(R"({"a": [1, {"x": 1}], "c": {"d": 1e400}})"),
            "here: c.d: the number is larger than any that a double holds");
}

TEST(ShownJson, is_one_short_line_in_ascii) {
  EXPECT_EQ(shown(Json(1.5)), "1.5");
  EXPECT_EQ(shown(Json(true)), "true");
  EXPECT_EQ(shown(Json()), "null");
  EXPECT_EQ(shown(Json{1, 2}), "a list");
  EXPECT_EQ(shown(Json{{"a", 1}}), "a map");
  EXPECT_EQ(shown(Json("ä\n\"")), R"("\u00e4\n\"")");
  std::string const full(58, 'x');
  EXPECT_EQ(shown(Json(full)), '"' + full + '"');
  EXPECT_EQ(shown(Json(full + 'y')), '"' + full + "y...");
  EXPECT_EQ(shown_key("rope_theta"), "rope_theta");
  EXPECT_EQ(shown_key(""), "");
  EXPECT_EQ(shown_key("ä\"b\""), R"(\u00e4\"b\")");
  EXPECT_EQ(shown_key(full), full);
  EXPECT_EQ(shown_key(full + "yz"), full + "y...");
}

TEST(Pattern, has_any_text_for_a_star_and_digits_for_an_n) {
  for (auto const* const name : {"a.0.b", "a.7.b", "a.1234567890.b"})
    EXPECT_TRUE(fits("a.N.b", name)) << name;
  for (auto const* const name :
       {"a..b", "a.x.b", "a.N.b", "a.1x.b", "a.1.bc", "xa.1.b", "a.1.", ""})
    EXPECT_FALSE(fits("a.N.b", name)) << name;
  for (auto const* const name : {"a.", "a.b", "a.b.a."}) EXPECT_TRUE(fits("a.*", name)) << name;
  for (auto const* const name : {"a", "b.a.", ""}) EXPECT_FALSE(fits("a.*", name)) << name;
  for (auto const* const name : {"drop", "a_drop", "dropout", "a_drop_drop_b"})
    EXPECT_TRUE(fits("*drop*", name)) << name;
  EXPECT_FALSE(fits("*drop*", "a_dro_p"));
  EXPECT_TRUE(fits("*_pdrop", "resid_pdrop_pdrop"));
  EXPECT_FALSE(fits("*_pdrop", "resid_pdrop_"));
  EXPECT_TRUE(fits("*.N", "a.b.12"));
  EXPECT_FALSE(fits("*.N", "a.b."));
  EXPECT_TRUE(fits("", ""));
  EXPECT_FALSE(fits("", "a"));
}

TEST(ActivationWords, are_written_as_transformers_prefers) {
  EXPECT_EQ(their_activation(Activation::gelu_tanh), "gelu_new");
  EXPECT_EQ(their_activation(Activation::gelu_erf), "gelu");
  EXPECT_EQ(their_activation(Activation::silu), "silu");
  EXPECT_EQ(their_activation(Activation::relu), "relu");
  EXPECT_EQ(our_activation("gelu_erf"), std::nullopt);
  EXPECT_EQ(activation_not_offered(),
            "is not offered; these are: gelu_new, gelu_pytorch_tanh, gelu_python_tanh, gelu, "
            "gelu_python, silu, swish, relu");
}

TEST(TensorTypes, are_written_as_a_small_text) {
  TensorTypes const types = {ElementType::bf16,
                             {{"b", ElementType::f32}, {"a.weight", ElementType::f16}}};
  std::string const text = R"({
  "exceptions": {
    "a.weight": "F16",
    "b": "F32"
  },
  "usual": "BF16"
}
)";
  EXPECT_EQ(to_json(types), text);
  EXPECT_EQ(types_from_json(text, "here"), types);
  try {
    types_from_json("{}", "there");
    FAIL() << "is read";
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::damaged);
    EXPECT_STREQ(error.what(), "there: does not say what types the tensors have");
  }
}

// Elements count, not tensors; of as many in two types the first type is the usual one.
TEST(TensorTypes, usual_is_the_one_of_most_elements) {
  TensorList const tensors({{"a", ElementType::f32, {2}},
                            {"b", ElementType::f32, {}},
                            {"c", ElementType::f16, {2, 3}},
                            {"d", ElementType::f32, {2}}});
  EXPECT_EQ(
      types_of(tensors),
      (TensorTypes{ElementType::f16,
                   {{"a", ElementType::f32}, {"b", ElementType::f32}, {"d", ElementType::f32}}}));
  EXPECT_EQ(types_of(TensorList()), (TensorTypes{ElementType::f32, {}}));
}

}  // namespace
}  // namespace spillway::huggingface_json_test
