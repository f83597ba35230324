// A library with three sources, in a process in which TARE_WITH names one of them, and one that is not there.
#include "recorder/sources.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "recorder/location.h"

namespace tare::recorder {
namespace {

[[maybe_unused]] const int environment = setenv("TARE_WITH", "typo,chosen", 1);
std::string told;

constexpr Source always{.name = "always",
                        .is_always_on = true,
                        .pauses = [](Location&) noexcept { told += "always "; },
                        .has_open_requests = []() noexcept { return true; }};
constexpr Source chosen{.name = "chosen",
                        .pauses = [](Location&) noexcept { told += "chosen "; },
                        .forked = []() noexcept { told += "forked "; }};
constexpr Source other{.name = "other", .pauses = [](Location&) noexcept { told += "other "; }};
constexpr const Source* sources[] = {&always, &chosen, &other};

TEST(SourcesTest, OneIsOnAlwaysOrIfItIsNamed) {
  EXPECT_TRUE(is_on(always));
  EXPECT_TRUE(is_on(chosen));
  EXPECT_FALSE(is_on(other));
  EXPECT_FALSE(is_on(Source{.name = "chosen"})) << "the library does not have it";
}

TEST(SourcesTest, ThoseThatAreOnAreToldInTheirOrder) {
  told.clear();
  Location location{};
  tell_sources<&Source::pauses>(location);
  EXPECT_EQ(told, "always chosen ");
  tell_sources<&Source::forked>();
  EXPECT_EQ(told, "always chosen forked ") << "one need not have all hooks";
  tell_sources<&Source::begins>();
}

TEST(SourcesTest, AHookThatOnlyOneHasIsFound) {
  EXPECT_EQ(only_hook<&Source::has_open_requests>(), always.has_open_requests);
  EXPECT_EQ(only_hook<&Source::change_sampling>(), nullptr);
}

TEST(SourcesTest, ANameThatIsNoSourceIsSaidOnce) {
  testing::internal::CaptureStderr();
  check_sources();
  check_sources();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tare: TARE_WITH=typo is ignored: its value is chosen, other\n");
}

}  // namespace

constinit const Options library_options{.location_bytes = sizeof(Location), .rows = 1, .sources = sources};

}  // namespace tare::recorder
