#include "tests/support/contract.h"

#include <utility>

namespace satchel::test {

// One function in each file of the suite: naming it here keeps the linker from
// leaving the file out of programs that instantiate the suite.
void contract_basics();
void contract_expiry();
void contract_history();
void contract_input();
void contract_json();
void contract_kv();
void contract_kv_counters();
void contract_kv_expiry();
void contract_kv_input();
void contract_kv_limits();
void contract_kv_pages();
void contract_kv_scopes();
void contract_lifetime();
void contract_list();
void contract_patch();
void contract_refusals();
void contract_requests();
void contract_users();

std::vector<Backend> contract_of(Backend backend) {
  contract_basics();
  contract_expiry();
  contract_history();
  contract_input();
  contract_json();
  contract_kv();
  contract_kv_counters();
  contract_kv_expiry();
  contract_kv_input();
  contract_kv_limits();
  contract_kv_pages();
  contract_kv_scopes();
  contract_lifetime();
  contract_list();
  contract_patch();
  contract_refusals();
  contract_requests();
  contract_users();
  return {std::move(backend)};
}

void PrintTo(const Backend& backend, std::ostream* out) {
  *out << backend.name;
}

std::string name(Call call) {
  static const char* const kNames[] = {"get",     "save",   "patch",
                                       "touch",   "revoke", "history",
                                       "changes", "revert"};
  return kNames[static_cast<int>(call)];
}

namespace {
template <class T>
std::optional<Error> error_in(const Result<T>& result) {
  if (result.ok()) return std::nullopt;
  return result.error();
}
}  // namespace

std::optional<Error> error_of(HandleStore& store, Call call,
                              std::string_view handle, std::string_view user) {
  const std::string u(user);
  switch (call) {
    case Call::get:
      return error_in(store.get(handle, {.user = u}));
    case Call::save:
      return error_in(
          store.save(handle, "{}"_j, {.user = u, .expect_version = 1}));
    case Call::patch:
      return error_in(
          store.patch(handle, op::set_key("", "k", 1), {.user = u}));
    case Call::touch:
      return error_in(store.touch(handle, {.user = u, .ttl = 1h}));
    case Call::revoke:
      return error_in(store.revoke(handle, {.user = u}));
    case Call::history:
      return error_in(store.history(handle, user));
    case Call::changes:
      return error_in(store.changes_since(handle, 1, user));
    case Call::revert:
      return error_in(store.revert(handle, 1, {.user = u}));
  }
  return std::nullopt;
}

}  // namespace satchel::test
