#include "format/sample_spec.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace tare::format {
namespace {

TEST(SampleSpec, ReadsEveryStrategyAndOption) {
  SampleSpec spec;
  ASSERT_STREQ(nullptr, parse_sample_spec("random:0.01", spec));
  EXPECT_EQ(spec.strategy, SampleStrategy::random);
  EXPECT_DOUBLE_EQ(spec.threshold, 0.01);
  EXPECT_EQ(spec.method, SampleMethod::freq);
  EXPECT_FALSE(spec.narrowed());
  ASSERT_STREQ(nullptr, parse_sample_spec("counter:256,16,stat,seed=7", spec));
  EXPECT_EQ(spec.strategy, SampleStrategy::counter);
  EXPECT_EQ(spec.period, 256U);
  EXPECT_EQ(spec.variance, 16U);
  EXPECT_EQ(spec.method, SampleMethod::stat);
  EXPECT_EQ(spec.seed, 7U);
  ASSERT_STREQ(nullptr, parse_sample_spec(
                            "timer:1ms,0.2ms,write,size=1K-64K,communicator=MPI_COMM_WORLD,function=MPI_Isend", spec));
  EXPECT_EQ(spec.period, 1'000'000U);
  EXPECT_EQ(spec.variance, 200'000U);
  EXPECT_EQ(spec.size_from, 1024U);
  EXPECT_EQ(spec.size_to, 65536U);
  EXPECT_STREQ(spec.communicator, "MPI_COMM_WORLD");
  EXPECT_NE(spec.function, 0U);
  EXPECT_TRUE(spec.narrowed());
  EXPECT_EQ(spec.seed, 7U) << "a change keeps the seed";
  ASSERT_STREQ(nullptr,
               parse_sample_spec("random:1,off,site=app+0x1234,site=libx.so+17,site=a.py:3,phase=solve", spec));
  EXPECT_EQ(spec.site_count, 3U);
  EXPECT_EQ(spec.sites[0].low, 0x1233U);
  EXPECT_EQ(spec.sites[0].high, 0x1234U);
  EXPECT_STREQ(spec.site_files[spec.sites[1].file], "libx.so");
  EXPECT_TRUE(spec.sites[2].python);
  EXPECT_STREQ(spec.site_files[spec.sites[2].file], "a.py");
  EXPECT_EQ(spec.sites[2].low, 3U);
  ASSERT_STREQ(nullptr, parse_sample_spec("counter:10,freq", spec));
  EXPECT_EQ(spec.variance, 0U);
  ASSERT_STREQ(nullptr, parse_sample_spec("none", spec));
  ASSERT_STREQ(nullptr, parse_sample_spec("random:2.5e-4,seed=010,size=64k-", spec));
  EXPECT_DOUBLE_EQ(spec.threshold, 2.5e-4);
  EXPECT_EQ(spec.seed, 10U);
  EXPECT_EQ(spec.size_from, 65536U);
}

TEST(SampleSpec, NamesCodeOfTheUser) {
  SampleSpec spec;
  const std::string folder(300, 'x');
  const std::string chooser = "/" + folder + "/mine.so:4096;a=b";
  ASSERT_STREQ(nullptr, parse_sample_spec((chooser + ",stat,analysis=/a.so:5").c_str(), spec));
  EXPECT_EQ(spec.strategy, SampleStrategy::user);
  EXPECT_EQ(spec.chooser, chooser);
  EXPECT_STREQ(spec.analysis, "/a.so:5");
  EXPECT_EQ(spec.method, SampleMethod::stat);
  EXPECT_FALSE(spec.narrowed());
  ASSERT_STREQ(nullptr, parse_sample_spec("random:0.5", spec));
  EXPECT_STREQ(spec.chooser, "");
  EXPECT_STREQ(spec.analysis, "/a.so:5") << "a change keeps the analysis";
  for (const char* text : {"mine.sox", ".so", "so", ".so:5", "random:1,analysis=", "random:1,analysis=mine.c"})
    EXPECT_NE(nullptr, parse_sample_spec(text, spec)) << text;
  EXPECT_NE(nullptr, parse_sample_spec((std::string(510, 'x') + ".so").c_str(), spec));
}

TEST(SampleSpec, SitesAreRangesOfFewFiles) {
  SampleSpec spec;
  std::string text = "random:1";
  for (unsigned i = 0; i < SampleSpec::max_sites; ++i)
    text += ",site=lib-" + std::to_string(i % SampleSpec::max_site_files) + "++.so+0x10-" + std::to_string(17 + i);
  ASSERT_STREQ(nullptr, parse_sample_spec(text.c_str(), spec));
  EXPECT_EQ(spec.site_count, SampleSpec::max_sites);
  EXPECT_EQ(spec.site_file_count, SampleSpec::max_site_files);
  const SampleSpec::Site& last = spec.sites[spec.site_count - 1];
  EXPECT_STREQ(spec.site_files[last.file], "lib-7++.so");
  EXPECT_EQ(last.low, 16U);
  EXPECT_EQ(last.high, 80U);
  EXPECT_FALSE(last.python);
  EXPECT_NE(nullptr, parse_sample_spec((text + ",site=lib-0++.so+1").c_str(), spec)) << "one too many";
  std::string files = "random:1";
  for (unsigned i = 0; i <= SampleSpec::max_site_files; ++i) files += ",site=a" + std::to_string(i) + "+1";
  EXPECT_NE(nullptr, parse_sample_spec(files.c_str(), spec)) << "one too many";
}

TEST(SampleSpec, SaysWhereLinesOfCompiledCodeAreLookedUp) {
  SampleSpec spec;
  const char* wrong = parse_sample_spec("random:1,site=solver.c:120", spec);
  ASSERT_NE(nullptr, wrong);
  EXPECT_NE(nullptr, std::strstr(wrong, "--print-sample"));
}

TEST(SampleSpec, RefusesWhatIsNone) {
  SampleSpec spec;
  spec.threshold = 0.5;
  for (const char* text : {"",
                           "random",
                           "random:0",
                           "random:1.5",
                           "random:x",
                           "random:0.1,",
                           "random:0.1,nonsense",
                           "counter:0",
                           "counter:4,4",
                           "counter:x",
                           "counter:18446744073709551615",
                           "random:0.1,seed=18446744073709551616",
                           "random:1e",
                           "random:0.1,seed=0x",
                           "timer:1",
                           "timer:1ms,2ms",
                           "timer:5,1ms",
                           "random:0.1,size=9-3",
                           "random:0.1,size=",
                           "random:0.1,function=MPI_Nothing",
                           "random:0.1,site=app",
                           "random:0.1,site=a.c:3",
                           "random:0.1,site=a.c:",
                           "random:0.1,site=+3",
                           "random:0.1,site=:3",
                           "random:0.1,site=app+0",
                           "random:0.1,site=app+5-5",
                           "random:0.1,site=app+5-",
                           "random:0.1,site=app+-5",
                           "random:0.1,function=MPI_Recv",
                           "random:-0.5"})
    EXPECT_NE(nullptr, parse_sample_spec(text, spec)) << text;
  EXPECT_NE(nullptr, parse_sample_spec(nullptr, spec));
  EXPECT_EQ(spec.threshold, 0.5) << "untouched";
  EXPECT_NE(nullptr,
            parse_sample_spec((std::string("random:0.1,communicator=") + std::string(300, 'x')).c_str(), spec));
}

}  // namespace
}  // namespace tare::format
