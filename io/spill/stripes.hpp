// Deals the addresses of a spill file out to the files of several drives. Only this code knows how.
#pragma once

#include <cstddef>
#include <cstdint>

namespace spillway {

// The offset of every transferred range must be a multiple of kSpillAlignment.
inline constexpr std::int64_t kSpillAlignment = std::int64_t{64} << 10;
// Smaller stripes would cut more of the pieces that are moved, larger ones would leave drives idle.
inline constexpr std::int64_t kStripeBytes = std::int64_t{4} << 20;

// Stripe i, which begins at address i * kStripeBytes, lies in file i % files, right behind the last
// stripe that was dealt to that file. A single file has every byte at its address.
class Stripes {
 public:
  explicit Stripes(std::size_t files) : m_files(static_cast<std::int64_t>(files)) {}

  struct Place {
    std::size_t file = 0;
    std::int64_t offset_bytes = 0;  // in that file
    std::int64_t bytes = 0;         // how many bytes from the address on follow each other there
  };
  Place place(std::int64_t address) const;

  // Returns the first address from `address` on at which a range may begin that is to lie on one
  // drive, if it is no longer than a stripe.
  std::int64_t next_begin(std::int64_t address) const;

  // Returns how large a file must be if the addresses below `end` are used.
  std::int64_t file_bytes(std::int64_t end, std::size_t file) const;
  // Returns the largest `end` for which no file is larger than `most_file_bytes`.
  std::int64_t most_end(std::int64_t most_file_bytes) const;
  // Several spill files that share equal drives together need at most so many bytes more for each
  // of them than they hold, because ranges begin at stripes and files end with them.
  std::int64_t most_lost_bytes() const;

 private:
  std::int64_t m_files;
};

}  // namespace spillway
