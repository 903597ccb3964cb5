// libFuzzer entry for the readers of JSON and of patch ops. Build with
// clang++ -fsanitize=fuzzer,address,undefined, this file and api/'s JSON files.
// An input is a state, optionally a line feed and a list of ops.

#include "json_fuzz.h"

#include <cstdlib>
#include <string_view>

#include "api/json_text.h"
#include "api/patch_apply.h"

namespace {

// Not assert: the checks must stand in every build.
void require(bool holds) {
  if (!holds) std::abort();
}

void check_patch(const satchel::Document& state,
                 const satchel::Document& list) {
  using satchel::Json;
  const auto ops = satchel::parse_ops(list);
  if (!ops) return;
  Json root = state.json();
  std::size_t size = state.size_bytes();
  const auto changed =
      satchel::apply_ops(root, size, *ops, state.size_bytes() + 100);
  std::string text;
  satchel::append_canonical(root, &text);
  require(text.size() == size);
  require(changed ? *changed == (text != state.text()) : text == state.text());
  require(satchel::Document::parse(text).value().text() == text);
  require(satchel::depth_of(root) <= satchel::kMaxDepth);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t split = input.find('\n');
  const auto state = satchel::Document::parse(input.substr(0, split));
  if (!state) {
    require(satchel::Json::accept(state.error().to_payload()));
    return 0;
  }
  const auto again = satchel::Document::parse(state->text());
  require(again.ok() && *again == *state);
  require(*satchel::Document::from_json(state->json()) == *state);
  require(satchel::Document::parse(pretty(*state)).value() == *state);
  require(satchel::canonical_size(state->json()) == state->size_bytes());
  if (split == std::string_view::npos || !satchel::check_state(*state))
    return 0;
  const auto list = satchel::Document::parse(input.substr(split + 1));
  if (list) check_patch(*state, *list);
  return 0;
}
