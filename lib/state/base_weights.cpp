#include "state/base_weights.hpp"

#include <fmt/core.h>

#include <vector>

#include "base/error.hpp"
#include "huggingface/model_directory.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_masters.hpp"

namespace spillway {
namespace {

// Owns the reader that its weights are read by. A base has no base, since a run that begins with a
// checkpoint that has one takes over that.
class OpenedCheckpoint : public TensorSource {
 public:
  explicit OpenedCheckpoint(std::filesystem::path const& path)
      : m_reader(open_checkpoint(path)), m_weights(m_reader) {
    auto const place = m_reader.directory().string();
    if (!base_reference(m_reader.run_strings(), place).path.empty())
      throw Error(Status::bad_input, place + ": has a base itself");
  }

  std::string place() const override { return m_weights.place(); }
  TensorList const& tensors() const override { return m_weights.tensors(); }
  void read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) override {
    m_weights.read(tensor, first, to);
  }
  TensorRange verified_range(std::size_t tensor, TensorRange range) const override {
    return m_weights.verified_range(tensor, range);
  }

 private:
  CheckpointReader m_reader;
  CheckpointMasters m_weights;
};

[[noreturn]] void refuse(BaseReference const& base, std::string const& user,
                         std::string const& why) {
  throw Error(Status::bad_input,
              fmt::format("{}: the base of {}, whose frozen weights it has, {}; put back what was "
                          "there when that run began",
                          base.path, user, why));
}

std::shared_ptr<TensorSource> open(BaseReference const& base, std::string const& user) {
  try {
    return open_weights(base.path);
  } catch (Error const& error) {
    if (error.status() != Status::bad_input) throw;
    refuse(base, user, fmt::format("cannot be read ({})", error.what()));
  }
}

}  // namespace

std::shared_ptr<TensorSource> open_weights(std::filesystem::path const& path) {
  std::error_code ignored;  // what cannot be looked at is told when it is read
  if (!std::filesystem::exists(path, ignored))
    throw Error(Status::bad_input, path.string() + ": is not there");
  if (is_model_directory(path)) return std::make_shared<ModelDirectory>(path);
  return std::make_shared<OpenedCheckpoint>(path);
}

BaseWeights::BaseWeights(BaseReference reference, std::string const& user)
    : m_reference(std::move(reference)), m_user(user), m_source(open(m_reference, user)) {
  std::vector<TensorEntry> entries;
  for (auto const& entry : m_source->tensors())
    if (m_reference.sums.empty() || m_reference.sums.contains(entry.name)) entries.push_back(entry);
  m_tensors = TensorList(std::move(entries));
  for (auto const& [name, sum] : m_reference.sums)
    if (!m_tensors.find(name)) refuse(m_reference, m_user, "has changed: it has no " + name);
}

void BaseWeights::read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) {
  auto const& entry = m_tensors[tensor];
  m_source->read(*m_source->tensors().find(entry.name), first, to);
  if (first == 0) m_sum.restart(), m_tensor = tensor, m_next = 0;
  if (tensor != m_tensor || first != m_next) return;
  m_sum.add(to);
  m_next += std::ssize(to) / size_bytes(entry.type);
  if (m_next == element_count(entry)) end_tensor(tensor);
}

TensorRange BaseWeights::verified_range(std::size_t tensor, TensorRange range) const {
  auto const& entry = m_tensors[tensor];
  if (!m_reference.sums.empty()) return {0, element_count(entry)};
  return m_source->verified_range(*m_source->tensors().find(entry.name), range);
}

void BaseWeights::end_tensor(std::size_t tensor) {
  auto const& name = m_tensors[tensor].name;
  auto const sum = checksum_text(m_sum.value());
  auto const expected = m_reference.sums.find(name);
  if (expected != m_reference.sums.end() && expected->second != sum)
    refuse(m_reference, m_user, fmt::format("has changed: {} has other values", name));
  m_sums[name] = sum;
}

std::shared_ptr<TensorSource> open_base(CheckpointReader const& checkpoint) {
  auto const place = checkpoint.directory().string();
  auto base = base_reference(checkpoint.run_strings(), place);
  if (base.path.empty()) return nullptr;
  return std::make_shared<BaseWeights>(std::move(base), place);
}

JoinedWeights::JoinedWeights(std::vector<std::shared_ptr<TensorSource>> sources)
    : m_sources(std::move(sources)) {
  std::vector<TensorEntry> entries;
  for (auto const& source : m_sources) {
    for (std::size_t i = 0; i < source->tensors().size(); ++i) {
      entries.push_back(source->tensors()[i]);
      m_places.push_back({source.get(), i});
    }
  }
  m_tensors = as_floats(TensorList(std::move(entries)));
}

void JoinedWeights::read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) {
  auto const [source, number] = m_places[tensor];
  read_floats(*source, number, first, floats_of(to));
}

TensorRange JoinedWeights::verified_range(std::size_t tensor, TensorRange range) const {
  auto const [source, number] = m_places[tensor];
  return source->verified_range(number, range);
}

JoinedWeights checkpoint_weights(CheckpointReader& checkpoint) {
  std::vector<std::shared_ptr<TensorSource>> sources = {
      std::make_shared<CheckpointMasters>(checkpoint)};
  if (auto base = open_base(checkpoint)) sources.push_back(std::move(base));
  return JoinedWeights(std::move(sources));
}

}  // namespace spillway
