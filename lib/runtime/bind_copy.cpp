#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "base/check.hpp"
#include "comm/comm.hpp"
#include "io/spill/spill_file.hpp"
#include "plan/memory/lifetime.hpp"
#include "runtime/bind.hpp"

namespace spillway {

static_assert(kSpillBytes == kSpillAlignment);   // layout's offsets serve as offsets in the file
static_assert(kPieceBytes == kSpillPieceBytes);  // so that a part of a range can be moved by itself

namespace {

// Returns an Access from the first to the last byte of `buffer` that `accesses` cover.
Access moved(std::vector<Access> const& accesses, Buffer const& buffer) {
  Access all{buffer.id, buffer.bytes, 0, {}};
  for (auto const& access : accesses) {
    if (access.buffer != buffer.id) continue;
    all.first = std::min(all.first, access.first);
    all.last = std::max(all.last, access.last);
  }
  return all;
}

// Returns both versions of the bytes that an access covers.
std::array<MemoryBytes, 2> covered(Tiers const& tiers, Buffer const& buffer, Access const& access) {
  return {part(memory_bytes(tiers, buffer, 0), access.first, access.last),
          part(memory_bytes(tiers, buffer, 1), access.first, access.last)};
}

// Returns both versions of the bytes that an access covers, for a transfer of the drive. A drive
// reaches only memory that the host reaches.
std::array<HostBytes, 2> on_host(Tiers const& tiers, Buffer const& buffer, Access const& access) {
  auto both = versions(tiers, buffer);
  for (HostBytes& bytes : both)
    bytes = bytes.subspan(static_cast<std::size_t>(access.first),
                          static_cast<std::size_t>(access.last - access.first));
  return both;
}

// Returns the transfers of both versions between `memory` and the spill file, where `access` is a
// range of the buffer `away`.
std::array<SpillTransfer, 2> transfers(Direction direction, Buffer const& away,
                                       Access const& access,
                                       std::array<HostBytes, 2> const& memory) {
  std::array<SpillTransfer, 2> versions;
  for (std::size_t i = 0; i < 2; ++i) {
    auto const stride = away.versions > 1 ? static_cast<std::int64_t>(i) * away.stride : 0;
    versions[i] = {direction, memory[i], away.offset + stride + access.first, 0};
  }
  return versions;
}

// Throws std::logic_error if the range begins inside a piece, since the file has one checksum for
// each piece.
void require_whole_pieces(Program const& program, Item const& item, Access const& stored) {
  if (stored.first % kPieceBytes == 0) return;
  throw std::logic_error(
      fmt::format("{}: begins at byte {} of what lies on NVMe, inside of a piece",
                  describe(program, item.number), stored.first));
}

}  // namespace

BoundItem bind_copy(EngineParts const& parts, Stream* stream, Item const& item) {
  auto const& source = operand(parts.program, item, 0);
  auto const& target = operand(parts.program, item, 1);
  bool const reload = source.tier == Tier::nvme, spill = target.tier == Tier::nvme;
  auto read = moved(item.reads, source);
  auto const write = moved(item.writes, target);
  // The copy includes the gap behind a slice's last parameter, although nothing reads the gap.
  read.last = read.first + write.last - write.first;
  check(read.last <= source.bytes, source.name, "a copy reads beyond its end");
  check(parts.tiers.spill != nullptr || !(reload || spill), source.name,
        "a copy needs a spill file, and there is none");

  BoundItem bound;
  bound.go = go_words(parts, item);
  bool const may_follow_commit = !parts.program.redo || target.spanning;
  bool const unseen = spill && !parts.tiers.spill->checksums() && may_follow_commit;
  // With checksums, a failed spill of one step's bytes is noticed when they are reloaded. Without
  // checksums, the failure matters at once if the commit may not see it: if updates may begin
  // before the commit (no redo), or if the bytes are a sum of gradients, for which the commit does
  // not wait.
  if (reload || spill) require_whole_pieces(parts.program, item, reload ? read : write);
  if (reload) {
    auto const to = on_host(parts.tiers, target, write);
    bound.transfer = {transfers(Direction::read, source, read, to), true};
  } else if (spill) {
    auto const from = on_host(parts.tiers, source, read);
    bound.transfer = {transfers(Direction::write, target, write, from),
                      source.persistent || target.persistent || unseen};
  } else {
    bound.run = [from = covered(parts.tiers, source, read),
                 to = covered(parts.tiers, target, write), &device = parts.tiers.device,
                 stream](ItemContext const& now) {
      auto const i = static_cast<std::size_t>(now.parity);
      copy(device, stream, to[i], from[i]);
    };
  }
  return bound;
}

}  // namespace spillway
