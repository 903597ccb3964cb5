#include "tests/crash/scenario.h"

#include <deque>
#include <mutex>
#include <thread>

#include <array>
#include <utility>

#include "satchel/objects.h"
#include "storage/file_system.h"

namespace satchel::test {
namespace {

constexpr std::array<const char*, 2> kKinds = {"first", "second"};
constexpr std::size_t kCycle = 10;

JsonInput state_of(std::size_t i) {
  return JsonInput(Json{{"step", i}, {"items", Json::array()}});
}

Json append_of(std::size_t i) {
  return {{"op", "append"}, {"path", "items"}, {"value", i}};
}

std::string describe_handle(HandleStore& store, const HandleInfo& info) {
  const auto snapshot = store.get(info.handle, {.user = kUser}).value();
  EXPECT_TRUE(same_info(info, snapshot));
  auto text = info.kind + " v" + std::to_string(snapshot.version) + " by " +
              snapshot.last_writer + " until " +
              (snapshot.expires_at ? to_rfc3339(*snapshot.expires_at)
                                   : std::string("ever")) +
              " " + snapshot.state.value().text() + " [";
  const auto history = store.history(info.handle, kUser).value();
  for (const auto& version : history.versions) {
    text += " " + std::to_string(version.version) + ":" + version.writer;
  }
  return text + " ]\n";
}

}  // namespace

struct Scenario::Call {
  enum class What { mint, save, patch, touch, revert, revoke } what;
  std::size_t handle;
  std::uint64_t version;  // before the call
};

// The first handle lives on; the second is minted and revoked in each cycle.
Scenario::Call Scenario::call(std::size_t i) {
  using enum Call::What;
  const std::uint64_t cycles = i / kCycle;
  const auto first = [&](std::uint64_t version) {
    return cycles * 7 + version;
  };
  switch (i % kCycle) {
    case 0:
      return {i == 0 ? mint : save, 0, first(0)};
    case 1:
      return {patch, 0, first(1)};
    case 2:
      return {mint, 1, 0};
    case 3:
      return {touch, 0, first(2)};
    case 4:
      return {patch, 1, 1};
    case 5:
      return {save, 0, first(3)};
    case 6:
      return {touch, 0, first(4)};
    case 7:
      return {revert, 0, first(5)};
    case 8:
      return {patch, 0, first(6)};
    default:
      return {revoke, 1, 2};
  }
}

std::optional<Error> Scenario::send(HandleStore& store, std::size_t i) {
  const auto c = call(i);
  auto& handle = handles_[c.handle];
  const auto label = "step-" + std::to_string(i);
  const auto answer = [&]() -> Result<Snapshot> {
    switch (c.what) {
      case Call::What::mint:
        return store.mint(
            kKinds[c.handle], state_of(i),
            {.user = kUser, .writer = label, .request_id = label});
      case Call::What::save:
        return store.save(handle, state_of(i),
                          {.user = kUser,
                           .expect_version = c.version,
                           .writer = label,
                           .request_id = label});
      case Call::What::patch:
        return store.patch(
            handle, append_of(i),
            {.user = kUser, .writer = label, .request_id = label});
      case Call::What::touch:
        return store.touch(handle, {.user = kUser,
                                    .ttl = days(1 + 5 * i),
                                    .writer = label,
                                    .request_id = label});
      case Call::What::revert:
        return store.revert(handle, c.version - 1,
                            {.user = kUser,
                             .expect_version = c.version,
                             .writer = label,
                             .request_id = label});
      case Call::What::revoke:
        break;
    }
    auto revoked = store.revoke(handle, {.user = kUser, .request_id = label});
    if (!revoked.ok()) return revoked.error();
    return Snapshot();
  }();
  if (!answer.ok()) return answer.error();
  if (c.what == Call::What::mint) handle = answer->handle;
  if (c.what != Call::What::revoke) {
    EXPECT_EQ(answer->version, c.version + 1) << label;
  }
  return std::nullopt;
}

void Scenario::look_up(HandleStore& store) {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    const auto page = store.list(kUser, {.kind = kKinds[i]}).value();
    EXPECT_LE(page.handles.size(), 1u) << kKinds[i] << " was minted twice";
    // The second handle is needed to revoke it once more.
    if (!page.handles.empty()) handles_[i] = page.handles.front().handle;
  }
}

std::string Scenario::describe(HandleStore& store) {
  std::string text;
  for (const auto* kind : kKinds) {
    const auto page =
        store.list(kUser, {.kind = kind, .include_expired = true}).value();
    for (const auto& info : page.handles) text += describe_handle(store, info);
  }
  return text;
}

const std::string& Scenario::expected(std::size_t steps) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static std::deque<std::string> known;  // references stay
  static Scenario scenario;
  static const auto store =
      HandleStore::open("memory:", quiet_options()).value();
  if (known.empty()) known.push_back(describe(*store));
  while (known.size() <= steps) {
    if (const auto error = scenario.send(*store, known.size() - 1)) {
      throw *error;
    }
    known.push_back(describe(*store));
  }
  return known[steps];
}

std::optional<std::size_t> Scenario::steps_in(const std::string& description,
                                              std::size_t at_most) {
  for (std::size_t steps = at_most + 1; steps-- > 0;) {
    if (expected(steps) == description) return steps;
  }
  return std::nullopt;
}

Options quiet_options(Durability durability) {
  Options options;
  options.durability = durability;
  options.clock = std::make_shared<TestClock>();
  options.sweeper = false;
  return options;
}

std::filesystem::path fast_parent() {
  const std::filesystem::path memory = "/dev/shm";
  std::error_code ignored;
  return std::filesystem::is_directory(memory, ignored)
             ? memory
             : std::filesystem::temp_directory_path();
}

std::shared_ptr<storage::FileSystemHandle> handle_of(
    const std::shared_ptr<FaultFileSystem>& fs) {
  return std::make_shared<storage::FileSystemHandle>(
      storage::FileSystemHandle{fs});
}

void side_by_side(const std::function<void(std::size_t)>& body) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kSideBySide; ++i) {
    threads.emplace_back(body, i);
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace satchel::test
