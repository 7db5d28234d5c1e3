#include <zlib.h>

#include <array>
#include <utility>

#include "base/cannot_give.hpp"
#include "io/texts/unpack.hpp"

namespace spillway {
namespace {

// A file of gzip has one member or several, one behind the other.
class Gzip final : public ByteSource {
 public:
  Gzip(std::unique_ptr<ByteSource> packed, std::filesystem::path path)
      : m_packed(std::move(packed)), m_path(std::move(path)) {
    constexpr int largest_window_of_gzip = 15 + 16;
    if (inflateInit2(&m_stream, largest_window_of_gzip) != Z_OK) throw no_more_memory();
  }
  ~Gzip() override { inflateEnd(&m_stream); }

  std::size_t read(std::span<std::byte> to) override {
    m_stream.next_out = reinterpret_cast<Bytef*>(to.data());
    m_stream.avail_out = static_cast<uInt>(to.size());
    while (m_stream.avail_out > 0 && has_more()) {
      auto const result = inflate(&m_stream, Z_NO_FLUSH);
      m_is_in_member = result != Z_STREAM_END;
      if (result == Z_STREAM_END) inflateReset(&m_stream);
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        cannot_unpack(m_path, m_stream.msg != nullptr ? m_stream.msg : "it is no gzip");
    }
    return to.size() - m_stream.avail_out;
  }
  std::int64_t file_bytes() const override { return m_packed->file_bytes(); }

 private:
  bool has_more() {
    if (m_stream.avail_in > 0) return true;
    auto const bytes = m_packed->read(std::as_writable_bytes(std::span(m_buffer)));
    m_stream.next_in = m_buffer.data();
    m_stream.avail_in = static_cast<uInt>(bytes);
    if (bytes == 0 && m_is_in_member) cannot_unpack(m_path, "the file ends too early");
    return bytes > 0;
  }

  std::unique_ptr<ByteSource> m_packed;
  std::filesystem::path m_path;
  z_stream m_stream{};
  bool m_is_in_member = true;
  std::array<Bytef, 1 << 16> m_buffer{};
};

}  // namespace

std::unique_ptr<ByteSource> unpack_gzip(std::unique_ptr<ByteSource> packed,
                                        std::filesystem::path const& path) {
  return std::make_unique<Gzip>(std::move(packed), path);
}

}  // namespace spillway
