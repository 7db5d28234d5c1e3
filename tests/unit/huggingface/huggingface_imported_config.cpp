// What a run has of a model that it imports, where nothing else is said.
#include <gtest/gtest.h>

#include "huggingface/imported_config.hpp"

namespace spillway::huggingface_imported_config_test {
namespace {

TEST(ImportedConfig, loses_no_bit_of_the_weights) {
  ModelConfig const model;
  EXPECT_EQ(imported_config(model, ElementType::bf16).precision, Precision::bf16);
  for (auto const type : {ElementType::f16, ElementType::f32, ElementType::f64})
    EXPECT_EQ(imported_config(model, type).precision, Precision::fp32);
}

TEST(ImportedConfig, asks_for_no_more_positions_than_the_model_has) {
  ModelConfig model;
  auto const usual = Config().data.sequence;
  EXPECT_EQ(imported_config(model, ElementType::f32).data.sequence, usual);
  model.positions = usual - 1;
  EXPECT_EQ(imported_config(model, ElementType::f32).data.sequence, usual - 1);
  model.positions = usual + 1;
  EXPECT_EQ(imported_config(model, ElementType::f32).data.sequence, usual);
}

}  // namespace
}  // namespace spillway::huggingface_imported_config_test
