// The readers of JSON and of patch ops.

#include "api/json_text.h"
#include "api/patch_apply.h"
#include "tests/fuzz/fuzz.h"

namespace satchel::fuzz {
namespace {

void check_patch(const Document& state, const Document& list) {
  const auto ops = parse_ops(list);
  if (!ops) return;
  Json root = state.json();
  std::size_t size = state.size_bytes();
  const auto changed = apply_ops(root, size, *ops, state.size_bytes() + 100);
  std::string text;
  append_canonical(root, &text);
  require(text.size() == size);
  require(changed ? *changed == (text != state.text()) : text == state.text());
  require(Document::parse(text).value().text() == text);
  require(depth_of(root) <= kMaxDepth);
}

}  // namespace

void json(std::string_view input) {
  const std::size_t split = input.find('\n');
  const auto state = Document::parse(input.substr(0, split));
  if (!state) return require(Json::accept(state.error().to_payload()));
  const auto again = Document::parse(state->text());
  require(again.ok() && *again == *state);
  require(*Document::from_json(state->json()) == *state);
  require(Document::parse(pretty(*state)).value() == *state);
  require(canonical_size(state->json()) == state->size_bytes());
  if (split == std::string_view::npos || !check_state(*state)) return;
  const auto list = Document::parse(input.substr(split + 1));
  if (list) check_patch(*state, *list);
}

}  // namespace satchel::fuzz
