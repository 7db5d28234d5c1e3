#include "huggingface/activation_words.hpp"

#include <algorithm>
#include <iterator>

#include "huggingface/offered.hpp"

namespace spillway {
namespace {

struct ActivationWord {
  std::string_view theirs, ours;
};

// If there are several words for one activation, the first one is written.
constexpr ActivationWord kActivationWords[] = {
    {"gelu_new", "gelu_tanh"},
    {"gelu_pytorch_tanh", "gelu_tanh"},
    {"gelu_python_tanh", "gelu_tanh"},
    {"gelu", "gelu_erf"},
    {"gelu_python", "gelu_erf"},
    {"silu", "silu"},
    {"swish", "silu"},
    {"relu", "relu"},
};

}  // namespace

std::string our_activation(std::string_view theirs) {
  auto const found = std::ranges::find(kActivationWords, theirs, &ActivationWord::theirs);
  return found == std::end(kActivationWords) ? "" : std::string(found->ours);
}

std::string their_activation(std::string_view ours) {
  auto const found = std::ranges::find(kActivationWords, ours, &ActivationWord::ours);
  return found == std::end(kActivationWords) ? "" : std::string(found->theirs);
}

std::string activation_not_offered() {
  return not_offered(kActivationWords, &ActivationWord::theirs);
}

}  // namespace spillway
