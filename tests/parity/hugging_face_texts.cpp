// What generate makes of an imported model: where texts begin and end, and in what precision.
#include "tests/parity/hugging_face_test.hpp"
#include "tests/support/names_in.hpp"

namespace spillway::test::hugging_face_texts_test {
namespace {

class GeneratedTexts : public HuggingFace {
 protected:
  // A directory of this configuration with `change` in config.json and, unless it is empty, a
  // generation_config.json; imported. Gives what import prints.
  std::string import_with(DirectoryCase model, nlohmann::json const& change,
                          std::string const& generation = "") {
    auto config = nlohmann::json::parse(model.config);
    config.update(change);
    model.config = config.dump();
    for (auto const* name : {"model", "checkpoint"}) fs::remove_all(m_dir / name);
    write_model_directory(m_dir / "model", model);
    if (!generation.empty()) std::ofstream(m_dir / "model/generation_config.json") << generation;
    return import("model", "checkpoint");
  }
  std::vector<int> ids(std::string const& more = "", std::string const& checkpoint = "checkpoint") {
    std::istringstream words(
        run(fmt::format("generate --checkpoint {} --prompt-ids 17,45,99 --tokens 8 --temperature 0 "
                        "{} 2>{}",
                        path(checkpoint), more, path("stderr")))
            .output);
    return {std::istream_iterator<int>(words), {}};
  }

  DirectoryCase const m_gpt = directory_cases()[0];
};

TEST_F(GeneratedTexts, end_at_each_token_of_a_list) {
  auto const endless = import_with(m_gpt, {{"eos_token_id", nullptr}});
  EXPECT_EQ(endless.find("# generate ends"), endless.npos) << "nothing says where: " << endless;
  auto const one = import_with(m_gpt, {{"eos_token_id", 7}});
  EXPECT_EQ(one.find("# generate ends"), one.npos) << "data.eos_id says it: " << one;
  import_with(m_gpt, {{"eos_token_id", nullptr}});
  auto const whole = ids();
  ASSERT_EQ(whole.size(), 11u);
  // The first token that the model makes and has not made before, behind the first.
  auto const at = std::ranges::find_if(whole.begin() + 4, whole.end(), [&](int const& id) {
    return std::ranges::count(whole.begin(), whole.begin() + (&id - whole.data()), id) == 0;
  });
  ASSERT_NE(at, whole.end());
  std::vector const ended(whole.begin(), at + 1);
  auto const other = 399, end = *at;
  ASSERT_EQ(std::ranges::count(whole, other), 0);

  for (auto const& ends : {nlohmann::json{other, end}, nlohmann::json{end, other}}) {
    auto const printed = import_with(m_gpt, {{"eos_token_id", ends}});
    EXPECT_EQ(ids(), ended) << ends;
    EXPECT_NE(printed.find(fmt::format("each of these tokens: {}, {}", std::min(end, other),
                                       std::max(end, other))),
              printed.npos)
        << printed;
  }
  // generation_config.json wins, and the command line over both.
  auto const said = fmt::format(R"({{"eos_token_id": [{}, {}]}})", other, end);
  import_with(m_gpt, {{"eos_token_id", whole[3]}}, said);
  EXPECT_EQ(ids(), ended);
  EXPECT_EQ(ids(fmt::format("data.eos_id={}", other)), whole);
  auto const none = import_with(m_gpt, {{"eos_token_id", end}}, R"({"num_beams": 4})");
  EXPECT_NE(none.find("\n# generate ends at none: generation_config.json has none\n"), none.npos)
      << none;
  EXPECT_EQ(ids(), whole);
  EXPECT_NE(read("stderr").find("are not followed here: num_beams"), std::string::npos)
      << read("stderr");
}

TEST_F(GeneratedTexts, of_a_decoder_begin_as_generation_config_says) {
  auto const& t5 = directory_cases()[2];
  import_with(t5, nlohmann::json::object());
  auto const from_padding = ids();
  import_with(t5, nlohmann::json::object(), R"({"decoder_start_token_id": 31})");
  auto const from_start = ids();
  EXPECT_NE(from_start, from_padding);
  EXPECT_EQ(ids("data.pad_id=0"), from_padding);
}

TEST_F(GeneratedTexts, of_a_bf16_model_are_made_in_fp32_where_that_is_asked_for) {
  auto const& qwen2 = directory_cases()[4];
  import_with(qwen2, nlohmann::json::object());
  export_to("checkpoint", "wide", "--dtype f32");
  import("wide", "wide-checkpoint");
  auto const fp32 = ids("", "wide-checkpoint");
  EXPECT_EQ(ids("--precision fp32"), fp32);
  EXPECT_EQ(ids("--precision fp32", "wide-checkpoint"), fp32);
  EXPECT_EQ(ids("--precision bf16", "wide-checkpoint"), ids());
}

}  // namespace
}  // namespace spillway::test::hugging_face_texts_test
