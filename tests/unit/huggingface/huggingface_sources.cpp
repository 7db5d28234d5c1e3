// Values on their way: tensors by other names, directories as sources, what export counts and says.
#include <filesystem>
#include <limits>

#include "base/log.hpp"
#include "huggingface/export_model.hpp"
#include "huggingface/import_model.hpp"
#include "huggingface/model_directory.hpp"
#include "huggingface/named_source.hpp"
#include "tests/support/in_memory_source.hpp"
#include "tests/support/model_directory.hpp"
#include "tests/unit/huggingface/huggingface_case.hpp"

namespace spillway::huggingface_sources_test {
namespace {

namespace fs = std::filesystem;

using test::InMemory;

// Two whole tiles and a part of one.
TEST(EqualValues, are_those_of_every_element) {
  constexpr std::int64_t tile = 1 << 19, elements = 2 * tile + 3;
  InMemory source({{"a", ElementType::f32, {elements}},
                   {"b", ElementType::f32, {elements}},
                   {"c", ElementType::bf16, {elements}}});
  for (std::size_t i = 0; i < elements; ++i)
    for (std::size_t const tensor : {0u, 1u, 2u})
      source.values(tensor)[i] = static_cast<float>(i % 251);
  EXPECT_TRUE(have_equal_values(source, 0, 1));
  EXPECT_TRUE(have_equal_values(source, 0, 2));
  for (std::int64_t const at :
       {std::int64_t{0}, tile - 1, tile, 2 * tile - 1, 2 * tile, elements - 1}) {
    auto& value = source.values(1)[static_cast<std::size_t>(at)];
    value += 0.5F;
    EXPECT_FALSE(have_equal_values(source, 0, 1)) << at;
    EXPECT_FALSE(have_equal_values(source, 1, 0)) << at;
    value -= 0.5F;
  }
}

TEST(EqualValues, have_one_shape_and_one_sign_of_zero) {
  InMemory source({{"a", ElementType::f32, {2, 3}},
                   {"b", ElementType::f32, {3, 2}},
                   {"c", ElementType::f32, {2, 3}}});
  EXPECT_FALSE(have_equal_values(source, 0, 1));
  EXPECT_TRUE(have_equal_values(source, 0, 2));
  source.values(2)[4] = -0.0F;
  EXPECT_FALSE(have_equal_values(source, 0, 2));
}

TEST(NamedTensors, are_some_of_a_source_in_another_order) {
  InMemory source({{"a", ElementType::f32, {5}},
                   {"b", ElementType::f32, {7}},
                   {"c", ElementType::bf16, {2, 2}}});
  source.values(0) = {1, 2, 3, 4, 5};
  source.values(2) = {6, 7, 8, 9};
  NamedSource named(source, {{"x", 2}, {"y", 0}});
  EXPECT_EQ(named.place(), "memory");
  ASSERT_EQ(named.tensors().size(), 2u);
  EXPECT_EQ(named.tensors()[0], (TensorEntry{"x", ElementType::bf16, {2, 2}}));
  EXPECT_EQ(named.tensors()[1], (TensorEntry{"y", ElementType::f32, {5}}));
  std::vector<float> three(3), two(2);
  read_floats(named, 1, 1, three);
  read_floats(named, 0, 2, two);
  EXPECT_EQ(three, (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(two, (std::vector<float>{8, 9}));
}

class Sources : public testing::Test {
 protected:
  Sources() {
    set_up_log(true);
    fs::remove_all(m_dir);
  }
  ~Sources() override { fs::remove_all(m_dir); }

  struct Exported {
    ExportedModel model;
    std::string said;  // on stderr, or why it was refused
    Status status = Status::done;
  };
  Exported export_in(TensorSource& weights, Config const& config, CarriedFiles const& carried,
                     std::optional<ElementType> type) const {
    Exported exported;
    testing::internal::CaptureStderr();
    try {
      exported.model = export_model(weights, config, carried, type, m_dir / "out");
    } catch (Error const& error) {
      exported.status = error.status();
      exported.said = error.what();
    }
    exported.said = testing::internal::GetCapturedStderr() + exported.said;
    fs::remove_all(m_dir / "out");
    return exported;
  }

  fs::path const m_dir = fs::path(testing::TempDir()) / "spillway_huggingface_sources";
};

TEST_F(Sources, that_are_directories_have_their_tensors_and_ids) {
  for (auto const& model : test::directory_cases()) {
    auto const path = m_dir / model.name;
    test::write_model_directory(path, model);
    auto const there = test::tensors_in(path);
    ModelDirectory directory(path);
    EXPECT_EQ(directory.place(), path.string());
    EXPECT_EQ(directory.tensors().size(), there.size());
    std::size_t number = 0;
    for (auto const& entry : directory.tensors()) {
      auto const& [expected, bytes] = there.at(entry.name);
      EXPECT_EQ(entry, expected);
      auto const element = size_bytes({"", entry.type, {1}});
      std::string tail(bytes.size() - static_cast<std::size_t>(element), '\0');
      directory.read(number++, 1, std::as_writable_bytes(std::span(tail)));
      EXPECT_EQ(tail, bytes.substr(static_cast<std::size_t>(element))) << entry.name;
    }
    auto const config = import_model(path.string());
    EXPECT_EQ(config.run.init, path.string());
    EXPECT_EQ(config.precision, model.type == ElementType::bf16 ? Precision::bf16 : Precision::fp32)
        << model.name;
    EXPECT_EQ(test::model_text(config.model), test::model_text(directory.description().model));
    using Id = std::optional<std::int64_t>;
    bool const is_bert = model.name == "bert", is_t5 = model.name == "t5";
    EXPECT_EQ(config.data.eos_id, model.name == "gpt2" ? Id(7)
                                  : is_t5              ? Id(1)
                                                       : Id())
        << model.name;
    EXPECT_EQ(config.data.mask_id, is_bert ? Id(398) : Id()) << model.name;
    EXPECT_EQ(config.data.sentinel_id, is_t5 ? Id(399) : Id()) << model.name;
    EXPECT_EQ(config.data.pad_id, is_t5 ? Id(0) : Id()) << model.name;
    EXPECT_EQ(config.data.sequence, config.model.positions > 0 ? 32 : DataConfig().sequence);
  }
}

TEST_F(Sources, that_are_adapters_are_refused_with_what_to_do) {
  test::write_model_directory(m_dir, test::directory_cases().front());
  fs::create_symlink("nowhere", m_dir / "adapter_config.json");
  try {
    describe_directory(m_dir);
    FAIL() << "is read";
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::bad_input);
    EXPECT_EQ(error.what(), (m_dir / "adapter_config.json").string() +
                                ": an adapter is not applied to weights here: save the model with "
                                "it (peft's merge_and_unload), or remove this file");
  }
}

TEST_F(Sources, that_are_exported_have_their_values_counted) {
  auto const model = describe_model(test::directory_cases().front().config, "").model;
  Config config;
  config.model = model;
  InMemory source(parameters_of(model));
  std::int64_t elements = 0;
  for (auto const& entry : source.tensors()) elements += element_count(entry);
  for (auto const& [tensor, count] : {std::pair(1u, 3), std::pair(4u, 5)})
    std::fill_n(source.values(tensor).begin(), count, 1e-9F);
  for (auto const& [type, bytes, zeros] : {std::tuple(std::optional(ElementType::f16), 2, 8),
                                           std::tuple(std::optional(ElementType::bf16), 2, 0),
                                           std::tuple(std::optional<ElementType>(), 4, 0)}) {
    auto const exported = export_in(source, config, {}, type);
    EXPECT_EQ(exported.said, "");
    EXPECT_EQ(exported.model.tensors, source.tensors().size());
    EXPECT_EQ(exported.model.bytes, bytes * elements);
    EXPECT_EQ(exported.model.become_zero, zeros);
  }
  auto const name = source.tensors()[4].name, count = std::to_string(source.values(4).size());
  source.values(4)[7] = std::numeric_limits<float>::infinity();
  source.values(4)[8] = -3.4e38F;
  auto const infinite = export_in(source, config, {}, ElementType::f16);
  EXPECT_EQ(infinite.status, Status::damaged);
  EXPECT_EQ(infinite.said, "memory: " + name + ": 1 of " + count +
                               " values are not finite (infinite, or no numbers)");
  source.values(4)[7] = 0;
  for (auto const& [type, words] : {std::pair(ElementType::f16, "F16; give --dtype bf16 or f32"),
                                    std::pair(ElementType::bf16, "BF16; give --dtype f32")}) {
    auto const large = export_in(source, config, {}, type);
    EXPECT_EQ(large.status, Status::bad_input);
    EXPECT_EQ(large.said,
              "memory: " + name + ": 1 of " + count + " values are too large for " + words);
  }
}

TEST_F(Sources, that_carry_what_they_must_not_are_named_with_it) {
  auto const model = describe_model(test::directory_cases().front().config, "").model;
  Config config;
  config.model = model;
  InMemory source(parameters_of(model));
  CarriedFiles const foreign = {{"modeling.py", kFileMode, "x"},
                                {"vocab.txt", kFileMode, "x"},
                                {"model.ckpt", kFileMode, "x"}};
  EXPECT_EQ(
      export_in(source, config, foreign, {}).said,
      "spillway: warning: memory: carries files that are left out, for no tokenizer has such: "
      "modeling.py, model.ckpt\n");
  EXPECT_EQ(export_in(source, config, {{kTypesFile, kFileMode, "{}"}}, {}).said,
            "memory: tensor-types.json: does not say what types the tensors have");
  EXPECT_EQ(export_in(source, config, {{kConfigFile, kFileMode, "{"}}, {}).said,
            "memory: config.json: is not JSON at byte 2 of it");
}

}  // namespace
}  // namespace spillway::huggingface_sources_test
