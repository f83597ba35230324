/* usage: asks [POINTS] : iterations until all ranks know the BOI, the delay and the direct cost of the monitored run
 * that they are in; each a millisecond, and an entry of the region "step". With POINTS, which make the points of the run,
 * the overall cost is waited for, too; if that is "points", an iteration ends with tare_offload(). Without a monitor it makes 20 iterations. Each rank prints a line of JSON, of what it knew before
 * the first iteration and what it knows at the end; and of profiles of 16, 23 and a million events. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tare/tare.h>
#include <unistd.h>

enum { line_bytes = 4096, max_ranks = 16 };

static int print(char* line, const char* name, int known, const tare_sweet_spot* spot) {
  return snprintf(line, line_bytes / 4, "\"%s\": {\"known\": %d, \"events\": %u, \"source\": %u, \"is_bound\": %u, \"boi\": %.12g, \"boi_spread\": %.12g, "
         "\"resting_delay\": %.12g, \"resting_delay_deviation\": %.12g, \"delay\": %.12g, \"delay_deviation\": %.12g, "
         "\"direct_cost\": %.12g, \"direct_cost_deviation\": %.12g, \"overall_cost\": %.12g, "
         "\"overall_cost_deviation\": %.12g}",
         name, known, spot->events, spot->source, spot->is_bound, spot->boi, spot->boi_spread, spot->resting_delay,
         spot->resting_delay_deviation, spot->delay, spot->delay_deviation, spot->direct_cost,
         spot->direct_cost_deviation, spot->overall_cost, spot->overall_cost_deviation);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  tare_sweet_spot before, now, of_16, of_23, other;
  const int known_before = tare_find_sweet_spot(0, &before);
  const int points = argc > 1, is_monitored = getenv("TARE_MONITOR") != NULL;
  const int offloads = points && !strcmp(argv[1], "points");
  const tare_id step = tare_define_region("step");
  int known = 0, all_know = 0;
  for (int i = 0; is_monitored ? !all_know : i < 20; ++i) {
    tare_enter(step);
    usleep(1000);
    known = tare_find_sweet_spot(0, &now);
    const int knows_all = known && now.delay >= 0 && now.direct_cost >= 0 && (!points || now.overall_cost_deviation >= 0);
    MPI_Allreduce(&knows_all, &all_know, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    tare_leave(step);
    if (offloads) tare_offload();
  }
  const int known_16 = tare_find_sweet_spot(16, &of_16);
  const int known_23 = tare_find_sweet_spot(23, &of_23);
  const int known_other = tare_find_sweet_spot(1000000, &other);
  /* The first rank prints all lines: launchers do not take those of several ranks apart. */
  char line[line_bytes] = "{", all[max_ranks][line_bytes];
  char* at = line + 1;
  at += print(at, "before", known_before, &before);
  at += sprintf(at, ", ");
  at += print(at, "now", known, &now);
  at += sprintf(at, ", ");
  at += print(at, "of_16", known_16, &of_16);
  at += sprintf(at, ", ");
  at += print(at, "of_23", known_23, &of_23);
  at += sprintf(at, ", ");
  at += print(at, "other", known_other, &other);
  sprintf(at, "}");
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > max_ranks) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Gather(line, line_bytes, MPI_CHAR, all, line_bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; i < size && rank == 0; ++i) puts(all[i]);
  MPI_Finalize();
  return 0;
}
