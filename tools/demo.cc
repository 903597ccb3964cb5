#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "satchel/json.h"
#include "tools/arguments.h"
#include "tools/environment.h"
#include "tools/output.h"
#include "tools/story.h"

namespace satchel::tools {
namespace {

namespace fs = std::filesystem;

/// The folder of the story, taken away at the end unless it is to stay.
class Place {
 public:
  explicit Place(const std::optional<std::string>& keep) : keep_(keep) {
    if (keep) {
      path_ = chosen(*keep);
      return;
    }
    path_ = variable("TMPDIR").value_or("/tmp") + "/satchel-demo-XXXXXX";
    if (!::mkdtemp(path_.data())) {
      throw Error(ErrorCode::backend_error,
                  std::string("no temporary folder can be made (") +
                      std::strerror(errno) +
                      "); set TMPDIR, or name a folder with --keep DIR");
    }
  }
  ~Place() {
    std::error_code ignored;
    if (!keep_) fs::remove_all(path_, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  const std::string& path() const { return path_; }

 private:
  static std::string chosen(const std::string& keep) {
    if (keep.empty()) throw wrong_usage("--keep is empty; name a folder");
    std::error_code error;
    const fs::path path = fs::absolute(expand_home(keep), error);
    const fs::file_status status = fs::status(path, error);
    if (fs::exists(status) &&
        (!fs::is_directory(status) || !fs::is_empty(path, error) || error)) {
      throw wrong_usage("--keep needs a folder that is empty or not there yet");
    }
    return path.string();
  }

  std::optional<std::string> keep_;
  std::string path_;
};

constexpr const char* kStart =
    R"({"topic":"tidal power","sources":[],"notes":{}})";
constexpr const char* kSources =
    R"([{"op":"append","path":"sources","value":"survey.pdf"},)"
    R"({"op":"append","path":"sources","value":"tides.csv"}])";
constexpr const char* kCost =
    R"({"op":"set_key","path":"notes","key":"cost","value":"falling"})";

Json parsed(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  require_told(json.is_object(), "a result is no JSON object");
  return json;
}

/// The state with a note by `device`.
Json with_note(Json state, const std::string& device) {
  state["notes"][device] = "seen by the " + device;
  return state;
}

std::string start(Story& story) {
  story.tell(
      "1. MONDAY, ON THE LAPTOP. An agent starts a piece of work for Alice. "
      "What it knows so far is kept under a handle that lives for a week.");
  std::string handle =
      story.run({"laptop", {"mint", "research", kStart, "--ttl", "7d"}}).out;
  handle.erase(handle.find_last_not_of('\n') + 1);
  require_told(handle.starts_with("research_"), "mint printed no handle");
  story.tell(
      "It finds two sources and adds them. A patch sends the change only, and "
      "never conflicts.");
  story.run({"laptop", {"patch", handle, kSources}});
  return handle;
}

void resume(Story& story, const std::string& handle) {
  story.tell(
      "2. TUESDAY, ON THE PHONE. A new conversation knows nothing. It asks "
      "what Alice has, finds the handle and picks the work up.");
  const Finished list = story.run({"phone", {"list", "--kind", "research"}});
  require_told(list.out.find(handle) != std::string::npos,
               "list does not show the handle");
  const Finished got = story.run({"phone", {"get", handle}});
  require_told(parsed(got.out)["sources"].size() == 2,
               "the state does not hold both sources");
}

/// Returns the version after the merge.
std::uint64_t collide(Story& story, const std::string& handle) {
  story.tell(
      "3. BOTH AT ONCE. Laptop and phone have read version 2 and save at the "
      "same moment. One wins; the other is refused and handed the winner's "
      "state.");
  const Json read = {{"topic", "tidal power"},
                     {"sources", {"survey.pdf", "tides.csv"}},
                     {"notes", Json::object()}};
  const auto save = [&](const std::string& device, const Json& state,
                        std::uint64_t version) {
    return Story::Command{
        device,
        {"save", handle, with_note(state, device).dump(), "--expect-version",
         std::to_string(version), "--json"}};
  };
  const auto [laptop, phone] =
      story.run_both(save("laptop", read, 2), save("phone", read, 2));
  require_told(laptop.exit_code + phone.exit_code == 3 &&
                   laptop.exit_code * phone.exit_code == 0,
               "not exactly one of the two saves won");
  const bool laptop_won = laptop.exit_code == 0;
  const std::string winner = laptop_won ? "laptop" : "phone";
  const std::string loser = laptop_won ? "phone" : "laptop";
  const Json error = parsed((laptop_won ? phone : laptop).out)["error"];
  require_told(error.value("code", "") == "stale_write" &&
                   error["current"]["state"]["notes"].contains(winner),
               "the loser was not handed the winner's state");
  story.tell("The " + loser + " lost. It puts its note into what the " +
             winner + " wrote, and saves. Nothing is lost.");
  const auto current = error["current"]["version"].get<std::uint64_t>();
  const Json merged =
      parsed(story.run(save(loser, error["current"]["state"], current)).out);
  const Finished got = story.run({loser, {"get", handle, "--path", "notes"}});
  const Json notes = parsed(got.out);
  require_told(notes.contains("laptop") && notes.contains("phone"),
               "a note was lost");
  return merged["version"].get<std::uint64_t>();
}

void renew(Story& story, const std::string& handle, std::uint64_t version) {
  story.tell(
      "4. LONGER THAN PLANNED. The laptop adds a note and gives the work "
      "another 30 days.");
  story.run({"laptop", {"patch", handle, kCost}});
  story.run({"laptop", {"touch", handle, "--ttl", "30d"}});
  const std::string since = std::to_string(version);
  story.tell("5. WHAT CHANGED? The phone knows version " + since +
             " and asks for the rest, not for the whole state.");
  const Finished changes =
      story.run({"phone", {"changes", handle, "--since", since}});
  require_told(changes.out.find("set_key") != std::string::npos &&
                   changes.out.find("touch") != std::string::npos,
               "changes does not show the patch and the renewal");
}

void finish(Story& story, const std::string& handle) {
  story.tell("6. DONE. The work is finished; the handle is ended for good.");
  story.run({"phone", {"revoke", handle}});
  story.run({"laptop", {"get", handle}}, 1);
}

Outcome demo(const Run& run, const std::optional<std::string>& keep) {
  if (run.globals.store || run.globals.user || run.globals.writer ||
      run.globals.durability) {
    throw wrong_usage(
        "demo makes its own store and plays all its roles; it takes --keep "
        "DIR only");
  }
  const Place place(keep);
  Story story(place.path(), run.globals.json ? STDERR_FILENO : STDOUT_FILENO);
  story.tell("SATCHEL: STATE THAT FOLLOWS THE USER");
  story.tell(
      "A story about a research assistant. Each line with a $ is a process of "
      "its own that ends before the next begins; all they share is a folder "
      "on disk.");
  const std::string handle = start(story);
  resume(story, handle);
  const std::uint64_t version = collide(story, handle);
  renew(story, handle, version);
  finish(story, handle);
  const std::string count = std::to_string(story.commands());
  story.tell("All went as told: " + count +
             " commands, two devices, one handle, nothing lost. " +
             (keep ? "The store stays where --keep put it."
                   : "The store was temporary and is gone."));
  if (!run.globals.json) return {};
  return {
      Json{{"ok", true}, {"commands", story.commands()}}.dump() + '\n', {}, 0};
}

}  // namespace

void add_demo(CLI::App& app, Run& run) {
  const auto keep = std::make_shared<std::optional<std::string>>();
  CLI::App* command =
      add_command(app, "demo", "Tell the whole idea in a minute",
                  "satchel demo --keep /tmp/satchel-story");
  add_value(command, "--keep", *keep,
            "Keep the store there (an empty or new folder)", "DIR");
  run.actions[command] = [keep, &run] { return demo(run, *keep); };
}

}  // namespace satchel::tools
