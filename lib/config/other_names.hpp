// Knows what keys are called in other programs of this field: the Trainer of Hugging Face, its
// config.json, DeepSpeed, Megatron-LM, nanoGPT, PyTorch. A user of these who writes such a name is
// told what to write here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

// An OtherName is a row of the table: names that mean the same elsewhere, and what to write here.
struct OtherName {
  std::string_view names;   // with spaces between them
  std::string_view key;     // such as "optim.lr"; empty if no key is like it
  std::string_view remark;  // what differs, or why there is no key; may be empty if there is one
};

// Returns the table, in the order of docs/glossary.md.
std::span<OtherName const> other_names();

// Returns the row that has `name`, or nullptr. A name with dots, such as "train.learning_rate", is
// looked up by its last part too, unless that is the last part of one of `keys`. Capitals and
// hyphens do not count.
OtherName const* other_name(std::string_view name, std::vector<std::string> const& keys);

// Returns what a message says of an unknown key that has a row, such as "here it is optim.lr".
std::string advice_of(OtherName const& other);

}  // namespace spillway
