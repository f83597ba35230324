/* What the user's code of a test sees and does. */
#ifndef TARE_WATCHED_CODE_H
#define TARE_WATCHED_CODE_H

#include "tare/sampling.h"

enum { WATCHED = 256 };

struct watched {
  int chooses;
  double probability;
  uint64_t busy_ns;    /* how long each call of choose() and add() takes */
  void (*leave)(void); /* called by choose(), if not NULL */
  void (*during_add)(void);
  unsigned writes; /* how often write() writes ten bytes */
  unsigned asked;
  unsigned added;
  unsigned ended;
  tare_message messages[WATCHED];
  tare_sampled_message sampled[WATCHED];
};

#endif
