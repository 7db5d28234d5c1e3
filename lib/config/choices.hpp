// Defines the enumerations of keys whose values are words. A word is the name of its enumerator, or
// is in the table kWords next to the enumeration. A key that may be `auto` has a std::optional of
// its enumeration, which is empty for `auto`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/spelling.hpp"

namespace spillway {

inline constexpr std::string_view kAuto = "auto";
template <class E>
constexpr std::string_view word(std::optional<E> choice) {
  return choice ? word(*choice) : kAuto;
}

enum class Family : std::uint8_t { gpt, bert, t5, llama };
// `gelu_erf` is x times the normal distribution's CDF, `gelu_tanh` approximates it by tanh.
// `silu` is x times the sigmoid.
enum class Activation : std::uint8_t { gelu_tanh, gelu_erf, relu, silu };
enum class RopeScaling : std::uint8_t { none, linear, llama3 };
enum class ScaleOutput : std::uint8_t { yes, no };
template <>
inline constexpr std::array<std::string_view, 2> kWords<ScaleOutput> = {"true", "false"};

// How frozen matrices of layers are kept: with `int8` as 8 bits an element and a scale for each
// row, with `nf4` as bitsandbytes does (Dettmers et al., arXiv:2305.14314), 4 bits an element and
// scales that are quantized themselves. `none` keeps them in the run's precision.
enum class Quantization : std::uint8_t { none, int8, nf4 };

enum class ChangedData : std::uint8_t { finish, anew };
enum class Objective : std::uint8_t {
  next,    // a model predicts every token's successor
  masked,  // a model predicts hidden tokens (Devlin et al., arXiv:1810.04805)
  spans,   // a decoder predicts missing spans of a text (Raffel et al., arXiv:1910.10683)
};

enum class Optimizer : std::uint8_t { adamw, adamw_8bit, lion, sgd, adafactor, muon };
// What Muon's steps are multiplied by, for each matrix: `match_rms_adamw` makes them as large as
// AdamW's (Liu et al., arXiv:2502.16982), `original` is that of Muon's author.
enum class AdjustLr : std::uint8_t { match_rms_adamw, original };
enum class Schedule : std::uint8_t { cosine, linear, constant };
enum class Precision : std::uint8_t { bf16, fp32 };
// With `last`, gradients are summed over ranks once, in the last micro-batch of a step; with
// `each`, they are summed in every micro-batch.
enum class Reduction : std::uint8_t { last, each };
enum class NonFinite : std::uint8_t { stop, skip };

// What ranks share out, so that each of them keeps a slice, as in the stages of ZeRO (Rajbhandari
// et al., arXiv:1910.02054, sections 5 and 7): with `optimizer` the optimizer state, with
// `gradients` sums of gradients, too, and with `all` the parameters as well.
enum class Shard : std::uint8_t { none, optimizer, gradients, all };
inline constexpr std::array kShards = {Shard::none, Shard::optimizer, Shard::gradients, Shard::all};

// Says which ranks share a chunk out among them: those of each node, so that every node keeps a
// copy, or all ranks, which keep one together.
enum class ShardRanks : std::uint8_t { node, all };

enum class Resume : std::uint8_t { never, weights };

// A Backend moves bytes between memory and the drive. With `debug.force_backend: auto`, it is
// io_uring or, where io_uring is not available, threads.
enum class Backend : std::uint8_t {
  uring,        // io_uring, with memory registered wherever that is possible
  uring_plain,  // io_uring, with no memory registered
  posix,        // threads that call pread and pwrite
};
template <>
inline constexpr std::array<std::string_view, 3> kWords<Backend> = {"uring", "uring-plain",
                                                                    "posix"};
enum class KernelSet : std::uint8_t { portable };

}  // namespace spillway
