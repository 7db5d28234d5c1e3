// Files have these words for values of enumerations: who renames an enumerator changes the form of
// files.
#include "base/spelling.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "plan/data/program.hpp"

namespace spillway::test::spelling_test {
namespace {

using Words = std::vector<std::string_view>;

template <class E>
Words spelled() {
  return {kWords<E>.begin(), kWords<E>.end()};
}

TEST(Spelling, of_every_enumerator_is_what_files_have) {
  EXPECT_EQ(spelled<Purpose>(), (Words{"train", "eval", "generate"}));
  EXPECT_EQ(spelled<Role>(), (Words{"parameter", "remainder", "moment", "gradient", "activation",
                                    "edge", "workspace", "batch", "scalar", "cache"}));
  EXPECT_EQ(spelled<Phase>(), (Words{"forward", "backward", "norm", "update"}));
  EXPECT_EQ(spelled<Init::Kind>(), (Words{"zeros", "ones", "normal", "uniform"}));
  EXPECT_EQ(spelled<RopeScaling>(), (Words{"none", "linear", "llama3"}));
  EXPECT_EQ(spelled<Quantization>(), (Words{"none", "int8", "nf4"}));
  EXPECT_EQ(spelled<Activation>(), (Words{"gelu_tanh", "gelu_erf", "relu", "silu"}));
  EXPECT_EQ(spelled<Lane>(),
            (Words{"compute", "h2d", "d2h", "nvme_read", "nvme_write", "comm", "host", "data"}));
  EXPECT_EQ(spelled<Tier>(), (Words{"device", "host", "nvme"}));
  EXPECT_EQ(spelled<ItemKind>(),
            (Words{"op", "load_batch", "copy", "all_to_all", "all_gather", "commit", "report"}));
  EXPECT_EQ(spelled<DType>(), (Words{"f32", "bf16", "i16", "i32", "i64", "f64", "u8"}));
  EXPECT_EQ(spelled<BatchField>(), (Words{"tokens", "documents", "positions", "token_types",
                                          "targets", "weights", "samples", "position"}));
  Words const kinds = {
#define SPILLWAY_OP(name, rule, operands) #name,
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
  };
  EXPECT_EQ(spelled<OpKind>(), kinds);
}

// Counts values beyond the words that an enumerator has all the same: of the next ones, and of the
// last of a byte. (Each of them costs the compiler milliseconds; no code is made of them.)
template <class E>
constexpr std::size_t forgotten() {
  constexpr std::size_t next = kWords<E>.size(), last = 240;
  static_assert(next + 32 <= last);
  return
      []<std::size_t... i, std::size_t... j>(std::index_sequence<i...>, std::index_sequence<j...>) {
    return (std::size_t{0} + ... + (enumerator<static_cast<E>(next + i)>().empty() ? 0 : 1)) +
           (std::size_t{0} + ... + (enumerator<static_cast<E>(last + j)>().empty() ? 0 : 1));
  }
  (std::make_index_sequence<32>(), std::make_index_sequence<16>());
}

// Arrays with a value for each are as long as there are words.
static_assert(kWords<Lane>.size() == kLanes && kWords<Tier>.size() == kTiers &&
              kWords<BatchField>.size() == kBatchFields.size());

template <class E>
class SpellingOf : public testing::Test {};
using Enumerations = testing::Types<Purpose, Role, Phase, Init::Kind, RopeScaling, Activation, Lane,
                                    Tier, ItemKind, OpKind, DType, BatchField>;
TYPED_TEST_SUITE(SpellingOf, Enumerations);

TYPED_TEST(SpellingOf, has_a_word_of_its_own_for_each_value) {
  auto const words = spelled<TypeParam>();
  EXPECT_EQ(std::set(words.begin(), words.end()).size(), words.size());
  constexpr auto more = forgotten<TypeParam>();
  EXPECT_EQ(more, 0u);
}

// What items are called in a text is what they are called in JSON.
TYPED_TEST(SpellingOf, is_its_name_where_it_has_one) {
  for (std::size_t i = 0; i < kWords<TypeParam>.size(); ++i) {
    auto const value = static_cast<TypeParam>(i);
    if constexpr (requires { name(value); }) {
      EXPECT_EQ(name(value), kWords<TypeParam>[i]);
    } else if constexpr (std::same_as<TypeParam, BatchField>) {
      EXPECT_EQ(row_of(value).name, kWords<TypeParam>[i]);
    }
  }
}

}  // namespace
}  // namespace spillway::test::spelling_test
