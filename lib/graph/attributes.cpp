#include "graph/attributes.hpp"

#include <type_traits>

namespace spillway {
namespace {

double number(std::int64_t value) {
  return static_cast<double>(value);
}

}  // namespace

CostTerms EmbedAttributes::cost_terms() const {
  return {{"sequence", number(sequence)}};
}

CostTerms NormAttributes::cost_terms() const {
  return {};
}

CostTerms AttentionAttributes::cost_terms() const {
  CostTerms terms = {
      {"batch", number(batch)},   {"queries", number(queries)},   {"keys", number(keys)},
      {"heads", number(heads)},   {"kv_heads", number(kv_heads)}, {"head_size", number(head_size)},
      {"causal", causal ? 1 : 0}, {"window", number(window)},     {"tile", number(tile)}};
  if (dropout > 0) terms.emplace_back("dropout", dropout);
  return terms;
}

CostTerms RelativeBiasAttributes::cost_terms() const {
  return {{"bidirectional", bidirectional ? 1 : 0}, {"max_distance", number(max_distance)}};
}

CostTerms RopeAttributes::cost_terms() const {
  return {{"heads", number(heads)}, {"head_size", number(head_size)}};
}

CostTerms ActivationAttributes::cost_terms() const {
  return {{"form", static_cast<double>(form)}};
}

CostTerms DropoutAttributes::cost_terms() const {
  return {{"p", p}, {"sequence", number(sequence)}};
}

CostTerms MlpAttributes::cost_terms() const {
  CostTerms terms = {
      {"chunk", number(chunk)}, {"form", static_cast<double>(form)}, {"gated", gated ? 1 : 0}};
  if (dropout.p > 0) terms.emplace_back("dropout", dropout.p);
  return terms;
}

CostTerms LmHeadAttributes::cost_terms() const {
  return {{"chunk", number(chunk)}};
}

CostTerms ScaleAttributes::cost_terms() const {
  return {};
}

CostTerms DequantizeAttributes::cost_terms() const {
  return {{"form", static_cast<double>(form)}};
}

CostTerms UpdateRange::cost_terms() const {
  return {};
}

CostTerms AdamWAttributes::cost_terms() const {
  return {};
}

CostTerms LionAttributes::cost_terms() const {
  return {};
}

CostTerms SgdAttributes::cost_terms() const {
  return {};
}

CostTerms AdafactorAttributes::cost_terms() const {
  return {};
}

CostTerms MuonAttributes::cost_terms() const {
  return {};
}

CostTerms cost_terms(Attributes const& attributes) {
  return std::visit(
      []<class T>(T const& any) -> CostTerms {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return {};
        } else {
          return any.cost_terms();
        }
      },
      attributes);
}

}  // namespace spillway
