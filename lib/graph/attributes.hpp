// Defines the attributes of ops: what an op is told beside its operands. Each struct serves one or
// several kinds of op.
#pragma once

#include <cstdint>
#include <variant>

#include "config/choices.hpp"
#include "graph/attention.hpp"

namespace spillway {

struct EmbedAttributes {
  // A sequence has this many rows. Without the operand `positions`, row m has position m mod
  // sequence.
  std::int64_t sequence = 0;

  CostTerms cost_terms() const;
  bool operator==(EmbedAttributes const&) const = default;
};

struct NormAttributes {
  double eps = 1e-5;

  CostTerms cost_terms() const;
  bool operator==(NormAttributes const&) const = default;
};

// Describes a relative bias (Raffel et al., arXiv:1910.10683): each distance of a key belongs to a
// bucket, whose bias is added to the key's score. Half of the buckets hold one distance each. The
// others hold longer and longer ranges up to `max_distance`, and larger distances share the last
// bucket. If bidirectional, half of all buckets are for keys ahead of the query, and half for keys
// behind it or at its own position. Otherwise keys ahead have the bucket of distance 0.
struct RelativeBiasAttributes {
  std::int64_t queries = 0;  // element e of a head's bias is for keys e - (queries - 1) rows ahead
  std::int64_t max_distance = 128;
  bool bidirectional = true;

  CostTerms cost_terms() const;
  bool operator==(RelativeBiasAttributes const&) const = default;
};

// Rotary positions (Su et al., arXiv:2104.09864) turn columns j and j + d/2 of a head of d columns
// together, by the angle position * theta^(-2j/d), as rotate_half of Hugging Face's transformers
// does.
struct RopeAttributes {
  std::int64_t sequence = 0;              // without positions, row m has position m mod sequence
  std::int64_t heads = 0, head_size = 0;  // heads that turn (number, columns); the rest is copied
  double theta = 10000;
  RopeScaling scaling = RopeScaling::none;
  // Divides frequencies: with `linear` all of them, with `llama3` the low ones and, in part, those
  // in between.
  double factor = 1;
  double low_freq_factor = 1, high_freq_factor = 4;
  std::int64_t original_max_position = 8192;
  bool inverse = false;  // whether to turn by the negative angles

  CostTerms cost_terms() const;
  bool operator==(RopeAttributes const&) const = default;
};

struct ActivationAttributes {
  Activation form = Activation::gelu_tanh;

  CostTerms cost_terms() const;
  bool operator==(ActivationAttributes const&) const = default;
};

// An element's random number follows from (seed, origin, sample, element), so it is the same in the
// backward pass and when the op is run again.
struct DropoutAttributes {
  double p = 0;               // share of elements that are dropped
  std::int64_t sequence = 0;  // rows per sample
  std::uint64_t seed = 0;     // the run's seed
  std::uint64_t origin = 0;   // id of the forward op
  // The row of each sample with which the op's rows begin, a multiple of kDropoutRows.
  std::int64_t first_row = 0;

  CostTerms cost_terms() const;
  bool operator==(DropoutAttributes const&) const = default;
};
// So many rows have whole blocks of random numbers, however long they are.
inline constexpr std::int64_t kDropoutRows = 4;

// Describes an MLP: two products with an activation between them. If `gated`, the first product
// makes two halves side by side, of which the left one is the gate of the right one. The op takes
// `chunk` rows at a time (graph/mlp_tiles.hpp).
struct MlpAttributes {
  std::int64_t chunk = 0;
  Activation form = Activation::gelu_tanh;
  bool gated = false;
  DropoutAttributes dropout;  // before the second product; p is 0 if nothing is dropped

  CostTerms cost_terms() const;
  bool operator==(MlpAttributes const&) const = default;
};

struct LmHeadAttributes {
  std::int64_t chunk = 0;  // how many rows of logits exist at a time
  double scale = 1;        // logits = scale (x w^T + bias)

  CostTerms cost_terms() const;
  bool operator==(LmHeadAttributes const&) const = default;
};

struct ScaleAttributes {
  double factor = 1;

  CostTerms cost_terms() const;
  bool operator==(ScaleAttributes const&) const = default;
};

struct DequantizeAttributes {
  Quantization form = Quantization::none;

  CostTerms cost_terms() const;
  bool operator==(DequantizeAttributes const&) const = default;
};

// Says at which element of its chunk an op of the update starts, or at which element of the slice
// that the rank which runs it keeps (sharing.hpp). Then the op's operands hold that slice alone.
// The size of the op's gradient operand says how many elements it works on.
struct UpdateRange {
  std::int64_t first = 0;
  bool of_slice = false;

  CostTerms cost_terms() const;
  bool operator==(UpdateRange const&) const = default;
};

// These serve `adamw` and `adamw_8bit`, which draws no random numbers.
struct AdamWAttributes {
  double beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weight_decay = 0.1;
  double lr_share = 1;  // multiplies the step's learning rate
  UpdateRange range;
  std::uint64_t seed = 0;  // the run's seed, for the random numbers that round bf16 moments

  CostTerms cost_terms() const;
  bool operator==(AdamWAttributes const&) const = default;
};

struct LionAttributes {
  double beta1 = 0.9, beta2 = 0.95, weight_decay = 0.1;
  UpdateRange range;
  std::uint64_t seed = 0;  // as that of AdamWAttributes

  CostTerms cost_terms() const;
  bool operator==(LionAttributes const&) const = default;
};

struct SgdAttributes {
  double momentum = 0, weight_decay = 0.1;
  UpdateRange range;
  std::uint64_t seed = 0;  // as that of AdamWAttributes

  CostTerms cost_terms() const;
  bool operator==(SgdAttributes const&) const = default;
};

struct AdafactorAttributes {
  double clip_threshold = 1, eps2 = 1e-3, weight_decay = 0.1;
  UpdateRange range;

  CostTerms cost_terms() const;
  bool operator==(AdafactorAttributes const&) const = default;
};

inline constexpr double kMuonMomentum = 0.95;
inline constexpr int kMuonIterations = 5;
struct MuonAttributes {
  double momentum = kMuonMomentum, weight_decay = 0.1;
  AdjustLr adjust_lr = AdjustLr::match_rms_adamw;
  AdamWAttributes adamw;  // for what is no matrix
  UpdateRange range;

  CostTerms cost_terms() const;
  bool operator==(MuonAttributes const&) const = default;
};

using Attributes =
    std::variant<std::monostate, EmbedAttributes, NormAttributes, AttentionAttributes,
                 RelativeBiasAttributes, RopeAttributes, ActivationAttributes, DropoutAttributes,
                 MlpAttributes, LmHeadAttributes, ScaleAttributes, DequantizeAttributes,
                 UpdateRange, AdamWAttributes, LionAttributes, SgdAttributes, AdafactorAttributes,
                 MuonAttributes>;

CostTerms cost_terms(Attributes const& attributes);

}  // namespace spillway
