#pragma once
// Errors of the embedded store. Inside it refusals travel as thrown Errors and
// damage as thrown storage::Failures; EmbeddedStore turns both into Results.

#include <cstdint>
#include <string>
#include <string_view>

#include "satchel/error.h"
#include "storage/failure.h"
#include "storage/format.h"

namespace satchel::embedded {

/// The Error that the exception being handled stands for; only inside a catch
/// block.
Error current_error() noexcept;

Error invalid(std::string_view field, std::string message);

/// Identical whoever asks: the text must not tell a missing handle from a
/// foreign or a revoked one.
Error handle_not_found(bool saving);
Error handle_expired(const storage::Head& head, bool saving);
Error version_gone(std::uint64_t oldest);
Error quota_exceeded(std::string_view what, std::uint64_t held,
                     std::uint64_t limit);
Error state_too_large(std::uint64_t size, std::uint64_t limit);
Error request_conflict();
Error too_much_contention();
Error store_closed();

/// Throws handle_not_found or handle_expired unless `head` is alive at `now`.
/// `saving`: the text says that nothing was saved.
void require_alive(const storage::Head& head, std::uint64_t now, bool saving);

}  // namespace satchel::embedded
