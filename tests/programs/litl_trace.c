/* litl_trace FILE THREADS EVENTS: a trace of LiTL by liblitl itself, of the first thread and THREADS more, one after the
 * other, so that most begin after the first buffer has been written.
 * litl_trace --merge ARCHIVE FILE…: liblitl puts traces into one file.
 * Prints each event: thread number, code, and its text or first parameters. */
#include <litl_merge.h>
#include <litl_write.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static litl_write_trace_t* trace;
static int events;

static void* work(void* number) {
  const int thread = *(int*)number;
  litl_t* written;
  for (int i = 0; i < events; ++i) {
    const int a = thread, b = i;
    const short c = 7;
    litl_write_probe_pack_3(trace, 0x101, a, b, c, written);
    printf("%d 0x101 %d %d %d\n", thread, a, b, c);
  }
  char text[] = "hello, LiTL";
  litl_write_probe_raw(trace, 0x202, strlen(text), (litl_data_t*)text);
  printf("%d 0x202 %s\n", thread, text);
  litl_write_probe_reg_0(trace, 0x303);
  printf("%d 0x303\n", thread);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 3 && strcmp(argv[1], "--merge") == 0) {
    char** names = malloc((size_t)(argc - 3) * sizeof *names); /* liblitl frees them */
    for (int i = 3; i < argc; ++i) names[i - 3] = strdup(argv[i]);
    litl_merge_traces(argv[2], names, argc - 3);
    return 0;
  }
  if (argc != 4) return 2;
  events = atoi(argv[3]);
  trace = litl_write_init_trace(512);
  litl_write_set_filename(trace, argv[1]); /* with a directory: it looks for the last slash */
  litl_write_buffer_flush_on(trace);
  litl_write_thread_safety_on(trace);
  litl_write_tid_recording_on(trace);
  int number = 0;
  work(&number);
  for (number = 1; number <= atoi(argv[2]); ++number) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, &number);
    pthread_join(thread, NULL);
  }
  litl_write_finalize_trace(trace);
  return 0;
}
