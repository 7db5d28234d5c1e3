// What an op is told beside its operands: one struct per family of kinds.
#pragma once

#include <cstdint>
#include <variant>

#include "graph/attention.hpp"

namespace spillway {

struct EmbedAttributes {
  std::int64_t sequence = 0;  // rows per sequence: row m stands at position m mod sequence

  CostTerms cost_terms() const;
  bool operator==(EmbedAttributes const&) const = default;
};

struct NormAttributes {
  double eps = 1e-5;

  CostTerms cost_terms() const;
  bool operator==(NormAttributes const&) const = default;
};

// T5's bias (Raffel et al., arXiv:1910.10683): scores of keys at a distance get their bucket's
// bias. Half of the buckets hold one distance each, the others longer and longer ranges, up to
// `max_distance`, from which on all share the last. Bidirectional: half of all buckets are for keys
// behind the query and its own, half for those ahead; else all are for the former, and the latter
// have the bucket of distance 0.
struct RelativeBiasAttributes {
  std::int64_t queries = 0;  // a head's bias e is for keys that lie e - (queries - 1) rows ahead
  std::int64_t max_distance = 128;
  bool bidirectional = true;

  CostTerms cost_terms() const;
  bool operator==(RelativeBiasAttributes const&) const = default;
};

// `erf` is x times the normal distribution's CDF, `tanh` is GPT-2's approximation of it.
enum class GeluForm : std::uint8_t { tanh, erf };
struct GeluAttributes {
  GeluForm form = GeluForm::tanh;

  CostTerms cost_terms() const;
  bool operator==(GeluAttributes const&) const = default;
};

// An element's number is drawn from (seed, origin, sample, element): the same in backward, and
// again when the op is repeated.
struct DropoutAttributes {
  double p = 0;               // the share that is dropped
  std::int64_t sequence = 0;  // rows per sample
  std::uint64_t seed = 0;     // of the run
  std::uint64_t origin = 0;   // number of the forward op

  CostTerms cost_terms() const;
  bool operator==(DropoutAttributes const&) const = default;
};

struct LmHeadAttributes {
  std::int64_t chunk = 0;  // rows of logits that exist at a time

  CostTerms cost_terms() const;
  bool operator==(LmHeadAttributes const&) const = default;
};

// Which elements of its chunk an op of the update works on: as many as its gradient operand has.
struct UpdateRange {
  std::int64_t first = 0;

  CostTerms cost_terms() const;
  bool operator==(UpdateRange const&) const = default;
};

struct AdamWAttributes {
  double beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weight_decay = 0.1;
  UpdateRange range;

  CostTerms cost_terms() const;
  bool operator==(AdamWAttributes const&) const = default;
};

using Attributes = std::variant<std::monostate, EmbedAttributes, NormAttributes,
                                AttentionAttributes, RelativeBiasAttributes, GeluAttributes,
                                DropoutAttributes, LmHeadAttributes, UpdateRange, AdamWAttributes>;

CostTerms cost_terms(Attributes const& attributes);

}  // namespace spillway
