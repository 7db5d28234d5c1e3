#include "huggingface/activation_words.hpp"

#include <algorithm>
#include <iterator>

#include "base/check.hpp"
#include "huggingface/offered.hpp"

namespace spillway {
namespace {

struct ActivationWord {
  std::string_view theirs;
  Activation ours;
};

// If there are several words for one activation, the first one is written.
constexpr ActivationWord kActivationWords[] = {
    {"gelu_new", Activation::gelu_tanh},
    {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"gelu_python_tanh", Activation::gelu_tanh},
    {"gelu", Activation::gelu_erf},
    {"gelu_python", Activation::gelu_erf},
    {"silu", Activation::silu},
    {"swish", Activation::silu},
    {"relu", Activation::relu},
};

}  // namespace

std::optional<Activation> our_activation(std::string_view theirs) {
  auto const found = std::ranges::find(kActivationWords, theirs, &ActivationWord::theirs);
  if (found == std::end(kActivationWords)) return std::nullopt;
  return found->ours;
}

std::string their_activation(Activation ours) {
  auto const found = std::ranges::find(kActivationWords, ours, &ActivationWord::ours);
  check(found != std::end(kActivationWords), word(ours), "has no word in config.json");
  return std::string(found->theirs);
}

std::string activation_not_offered() {
  return not_offered(kActivationWords, &ActivationWord::theirs);
}

}  // namespace spillway
