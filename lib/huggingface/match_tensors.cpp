#include "huggingface/match_tensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>

#include "base/error.hpp"
#include "huggingface/imported_config.hpp"
#include "huggingface/tensor_names.hpp"
#include "model/model.hpp"

namespace spillway {
namespace {

// A Names maps the tensors' names in our checkpoints to their numbers in a TensorList.
class Names {
 public:
  Names(TensorList const& tensors, std::string const& place) : m_tensors(tensors), m_place(place) {}

  [[noreturn]] void refuse(std::string const& tensor, std::string const& why) const {
    throw Error(Status::bad_input, fmt::format("{}: {}: {}", m_place, tensor, why));
  }

  void add(std::string name, std::size_t number) {
    auto const [at, is_new] = m_numbers.emplace(std::move(name), number);
    if (is_new) return;
    refuse(m_tensors[number].name, fmt::format("is there as {} too", m_tensors[at->second].name));
  }

  bool has(std::string_view name) const { return m_numbers.contains(name); }
  void drop(std::string_view name) {
    if (auto const at = m_numbers.find(name); at != m_numbers.end()) m_numbers.erase(at);
  }
  void rename(std::string_view name, std::string now) {
    auto node = m_numbers.extract(m_numbers.find(name));
    node.key() = std::move(now);
    m_numbers.insert(std::move(node));
  }
  // If the copy is in the list and the original is not, gives the copy the original's name.
  void settle(TensorCopy const& pair) {
    if (has(pair.copy) && !has(pair.original)) rename(pair.copy, std::string(pair.original));
  }
  // Returns whether both tensors of the pair are in the list and have different values.
  bool differ(TensorCopy const& pair, AreEqual const& are_equal) const {
    auto const copy = m_numbers.find(pair.copy), original = m_numbers.find(pair.original);
    bool const both = copy != m_numbers.end() && original != m_numbers.end();
    return both && !are_equal(copy->second, original->second);
  }

  // Returns the tensors of `wanted`, in its order. Each must be in the list with its shape, and no
  // other tensor may be in the list.
  std::vector<NamedTensor> take_all(std::vector<TensorEntry> const& wanted) {
    std::vector<NamedTensor> taken;
    for (auto const& entry : wanted) taken.push_back({entry.name, take(entry)});
    if (!m_numbers.empty()) {
      refuse(m_tensors[m_numbers.begin()->second].name,
             "no tensor of this model has the name, and it is none of those that may be left out");
    }
    return taken;
  }

 private:
  std::size_t take(TensorEntry const& wanted) {
    auto const at = m_numbers.find(wanted.name);
    if (at == m_numbers.end()) refuse(wanted.name, "is not there");
    auto const number = at->second;
    auto const& there = m_tensors[number];
    if (there.shape != wanted.shape) {
      refuse(there.name, fmt::format("is [{}] there, and [{}] in this model",
                                     fmt::join(there.shape, ", "), fmt::join(wanted.shape, ", ")));
    }
    m_numbers.erase(at);
    return number;
  }

  TensorList const& m_tensors;
  std::string const& m_place;
  std::map<std::string, std::size_t, std::less<>> m_numbers;
};

Names named(Architecture architecture, TensorList const& tensors, std::string const& place) {
  Names names(tensors, place);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    auto name = our_name(architecture, tensors[i].name);
    if (!tensor_is_left_out(architecture, name)) names.add(std::move(name), i);
  }
  return names;
}

// The tensors may contradict the file: transformers 5 writes of every T5 that it is tied, and a T5
// without a head is tied even if the file denies it.
bool is_tied(ModelDescription const& description, Names const& names, AreEqual const& are_equal) {
  auto const pair = head_copy(description.architecture);
  if (description.model.tied) return !names.differ(pair, are_equal);
  return description.architecture == Architecture::t5 && !names.has(pair.copy);
}

// Keeps the bias that BERT adds to its logits: the head's own if there is one. A model whose
// config.json says that it is untied must have the head's own bias.
void settle_bias(bool told_tied, bool tied, Names& names) {
  if (names.has(kDecoderBias)) {
    names.drop(kTiedBias);
    if (tied) names.rename(kDecoderBias, kTiedBias);
  } else if (told_tied && !tied && names.has(kTiedBias)) {
    names.rename(kTiedBias, kDecoderBias);
  }
}

}  // namespace

std::vector<TensorEntry> parameters_of(ModelConfig const& model) {
  auto const config = imported_config(model, ElementType::f32);
  Arithmetic arithmetic;
  arithmetic.sequence = config.data.sequence;
  auto const graph = build_model(config, model.vocab, arithmetic, Purpose::eval);
  std::vector<TensorEntry> entries;
  for (auto const& chunk : graph.chunks) {
    for (auto const& parameter : chunk.parameters)
      entries.push_back({parameter.name, ElementType::f32, parameter.shape()});
  }
  return entries;
}

MatchedModel match_tensors(ModelDescription const& description, TensorList const& tensors,
                           std::string const& place, AreEqual const& are_equal) {
  auto const architecture = description.architecture;
  auto names = named(architecture, tensors, place);
  for (auto const& pair : plain_copies(architecture)) {
    if (names.differ(pair, are_equal))
      names.refuse(std::string(pair.copy), fmt::format("differs from {}", pair.original));
    names.settle(pair);
    names.drop(pair.copy);
  }
  if (description.model.tied) names.settle(head_copy(architecture));
  auto model = description.model;
  model.tied = is_tied(description, names, are_equal);
  if (model.tied) names.drop(head_copy(architecture).copy);
  if (architecture == Architecture::bert) settle_bias(description.model.tied, model.tied, names);
  auto const wanted = parameters_of(model);
  return {std::move(model), names.take_all(wanted)};
}

std::vector<NamedTensor> exported_tensors(ModelDescription const& description,
                                          TensorList const& tensors, std::string const& place) {
  Names names(tensors, place);
  for (std::size_t i = 0; i < tensors.size(); ++i) names.add(tensors[i].name, i);
  auto exported = names.take_all(parameters_of(description.model));
  for (std::size_t i = 0; i < exported.size(); ++i) {
    if (exported[i].name != kDecoderBias) continue;
    exported.push_back({kTiedBias, exported[i].number});  // transformers expects both
    break;
  }
  return exported;
}

}  // namespace spillway
