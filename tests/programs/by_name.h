/* Programs that consist of several: run("late sender") runs what PROGRAM(late_sender) { ... } defines. */
#include <stddef.h>

struct program {
  const char* name;
  void (*run)(void);
  struct program* next;
};

static struct program* programs;

#define PROGRAM(function)                                         \
  static void function(void);                                     \
  __attribute__((constructor)) static void add_##function(void) { \
    static struct program added = {#function, function, NULL};    \
    added.next = programs;                                        \
    programs = &added;                                            \
  }                                                               \
  static void function(void)

static void run(const char* name) {
  for (const struct program* each = programs; each != NULL; each = each->next) {
    size_t at = 0;
    while (name[at] != '\0' && (name[at] == each->name[at] || (name[at] == ' ' && each->name[at] == '_'))) ++at;
    if (name[at] == each->name[at]) each->run();
  }
}
