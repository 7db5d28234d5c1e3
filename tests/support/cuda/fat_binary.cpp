#include "tests/support/cuda/fat_binary.hpp"

#include <fmt/format.h>

#ifdef SPILLWAY_ZSTD
#include <zstd.h>
#endif

#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace spillway::test::cuda {
namespace {

struct Wrapper {
  std::uint32_t magic, version;
  std::byte const* container;
  void const* more;
};
struct Header {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  // counts those of all entries
};
struct Entry {
  std::uint16_t kind, version;
  std::uint32_t head_bytes;
  std::uint64_t bytes;
  std::uint32_t compressed_bytes, unused;
  std::uint16_t minor, major;
  std::uint32_t architecture, name_offset, name_bytes;
  std::uint64_t flags, more, plain_bytes;
};

constexpr std::uint32_t kWrapperMagic = 0x466243b1, kMagic = 0xba55ed50;
constexpr std::uint16_t kPtx = 1;  // is the kind of an entry with PTX
constexpr std::uint64_t kZstd = 0x8000;

template <class T>
T read(std::byte const* at) {
  T result;
  std::memcpy(&result, at, sizeof result);
  return result;
}

std::string decompress(std::byte const* from, Entry const& entry) {
  if ((entry.flags & kZstd) == 0)
    throw std::runtime_error(
        fmt::format("the PTX is compressed, but not with zstd (flags {:#x})", entry.flags));
#ifdef SPILLWAY_ZSTD
  std::string result(entry.plain_bytes, '\0');
  auto const bytes = ZSTD_decompress(result.data(), result.size(), from, entry.compressed_bytes);
  if (ZSTD_isError(bytes) != 0 || bytes != result.size())
    throw std::runtime_error("the PTX is compressed with zstd and damaged");
  return result;
#else
  static_cast<void>(from);
  throw std::runtime_error(
      "the PTX is compressed with zstd, which this build lacks: compile with nvcc --no-compress");
#endif
}

std::string text_of(std::byte const* at, Entry const& entry) {
  auto const* const first = at + entry.head_bytes;
  auto text = entry.compressed_bytes != 0
                  ? decompress(first, entry)
                  : std::string(reinterpret_cast<char const*>(first), entry.bytes);
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

// Calls visit(address, entry) for each entry that a device of this architecture could run.
template <class Visit>
void visit_fitting(void const* wrapper, int architecture, Visit const& visit) {
  auto const outer = read<Wrapper>(static_cast<std::byte const*>(wrapper));
  if (outer.magic != kWrapperMagic) throw std::runtime_error("what is registered is no fat binary");
  auto const header = read<Header>(outer.container);
  if (header.magic != kMagic) throw std::runtime_error("the fat binary has another layout");
  auto const device = static_cast<std::uint32_t>(architecture);
  auto const* const first = outer.container + header.header_bytes;
  for (auto const* at = first; at < first + header.bytes;) {
    auto const entry = read<Entry>(at);
    bool const is_like = entry.kind == kPtx || entry.architecture / 10 == device / 10;
    if (is_like && entry.architecture <= device) visit(at, entry);
    at += entry.head_bytes + entry.bytes;
  }
}

}  // namespace

bool has_code(void const* wrapper, int architecture) {
  bool found = false;
  visit_fitting(wrapper, architecture, [&](std::byte const*, Entry const&) { found = true; });
  return found;
}

std::string ptx_of(void const* wrapper, int architecture) {
  std::byte const* best = nullptr;
  std::uint32_t of_best = 0;
  visit_fitting(wrapper, architecture, [&](std::byte const* at, Entry const& entry) {
    if (entry.kind != kPtx || entry.architecture < of_best) return;
    best = at;
    of_best = entry.architecture;
  });
  if (best == nullptr)
    throw std::runtime_error(
        fmt::format("the fat binary has no PTX that a device of compute capability {}.{} can run",
                    architecture / 10, architecture % 10));
  return text_of(best, read<Entry>(best));
}

}  // namespace spillway::test::cuda
