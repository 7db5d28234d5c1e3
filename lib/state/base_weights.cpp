#include "state/base_weights.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "huggingface/adapter_directory.hpp"
#include "huggingface/model_directory.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_masters.hpp"
#include "state/checkpoint_tensors.hpp"

namespace spillway {

namespace fs = std::filesystem;

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

[[noreturn]] void refuse(std::string const& place, std::string const& user,
                         std::string const& why) {
  throw Error(Status::bad_input,
              fmt::format("{}: the base of {}, whose frozen weights it has, {}; put back what was "
                          "there when that run began, or say where that is now: --base DIR, for "
                          "train run.init=DIR",
                          place, user, why));
}

std::string sum_of(TensorSource& source, std::size_t tensor) {
  auto const& entry = source.tensors()[tensor];
  auto const size = size_bytes(entry.type);
  auto const elements = element_count(entry);
  std::vector<std::byte> piece;
  StreamingChecksum sum;
  for (std::int64_t first = 0; first < elements; first += kCopiedElements) {
    piece.resize(static_cast<std::size_t>(std::min(kCopiedElements, elements - first) * size));
    source.read(tensor, first, piece);
    sum.add(piece);
  }
  return checksum_text(sum.value());
}

// Returns why the source is not the base, as far as names and the smallest of its matrices tell; ""
// if it is. Vectors come last, since biases of zeros are alike in many models.
std::string why_not(TensorSource& source, BaseReference const& base) {
  auto const cost = [&](std::size_t tensor) {
    auto const& entry = source.tensors()[tensor];
    return std::pair(entry.shape.size() < 2, element_count(entry));
  };
  std::optional<std::size_t> smallest;
  for (auto const& [name, sum] : base.sums) {
    auto const tensor = source.tensors().find(name);
    if (!tensor) return "has changed: it has no " + name;
    if (!smallest || cost(*tensor) < cost(*smallest)) smallest = *tensor;
  }
  if (!smallest) return "";
  auto const& name = source.tensors()[*smallest].name;
  return sum_of(source, *smallest) == base.sums.at(name)
             ? ""
             : fmt::format("has changed: {} has other values", name);
}

// A directory of PEFT stands for the base that it names.
std::shared_ptr<TensorSource> open_place(std::string const& place) {
  return open_weights(is_adapter_directory(place) ? AdapterDirectory(place).base()
                                                  : fs::path(place));
}

// Returns where a base is that lies beside the run as it did where that began.
std::vector<std::string> beside_run(BaseReference const& base, CheckpointReader const& checkpoint) {
  if (base.from_run.empty()) return {};
  auto const run = fs::absolute(checkpoint.directory()).lexically_normal().parent_path();
  return {(run / base.from_run).lexically_normal().string()};
}

}  // namespace

std::shared_ptr<TensorSource> open_weights(std::filesystem::path const& path) {
  std::error_code ignored;  // what cannot be looked at is told when it is read
  if (!std::filesystem::exists(path, ignored))
    throw Error(Status::bad_input, path.string() + ": is not there");
  if (is_model_directory(path)) return std::make_shared<ModelDirectory>(path);
  return std::make_shared<OpenedCheckpoint>(path);
}

BaseWeights::BaseWeights(BaseReference reference, std::string const& user,
                         std::shared_ptr<TensorSource> source)
    : m_reference(std::move(reference)), m_user(user), m_source(std::move(source)) {
  std::vector<TensorEntry> entries;
  for (auto const& entry : m_source->tensors())
    if (m_reference.sums.empty() || m_reference.sums.contains(entry.name)) entries.push_back(entry);
  m_tensors = TensorList(std::move(entries));
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
    refuse(m_reference.path, m_user, fmt::format("has changed: {} has other values", name));
  m_sums[name] = sum;
}

Error no_use_of_base(std::string const& user) {
  return Error(Status::bad_input,
               fmt::format("--base: {} has no base, but all weights itself; leave it out", user));
}

std::shared_ptr<BaseWeights> open_base(CheckpointReader const& checkpoint,
                                       BasePlaces const& places) {
  auto const user = checkpoint.directory().string();
  auto base = base_reference(checkpoint.run_strings(), user);
  if (base.path.empty() && places.given.empty()) return nullptr;
  if (base.path.empty()) throw no_use_of_base(user);
  std::string first;  // what is wrong with the first place
  auto const all = places.in_order({base.path}, beside_run(base, checkpoint));
  for (auto const& place : all) {
    std::string why;
    try {
      auto source = open_place(place);
      why = why_not(*source, base);
      if (why.empty()) {
        if (place != base.path)
          base.path = fs::absolute(source->place()).lexically_normal().string();
        return std::make_shared<BaseWeights>(std::move(base), user, std::move(source));
      }
    } catch (Error const& error) {
      if (error.status() != Status::bad_input) throw;
      why = fmt::format("cannot be read ({})", error.what());
    }
    if (first.empty()) first = why;
  }
  refuse(all.front(), user, first);
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

JoinedWeights checkpoint_weights(CheckpointReader& checkpoint, BasePlaces const& places) {
  std::vector<std::shared_ptr<TensorSource>> sources = {
      std::make_shared<CheckpointMasters>(checkpoint)};
  if (auto base = open_base(checkpoint, places)) sources.push_back(std::move(base));
  return JoinedWeights(std::move(sources));
}

}  // namespace spillway
