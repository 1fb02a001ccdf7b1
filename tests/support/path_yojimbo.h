/* A model of how yojimbo sends reliable messages, for comparison: each packet repeats every message
   that is not acked and was not sent for a tenth of a second, whatever is known about losses. It
   has no other idea of the path. */
#ifndef CAUSEWAY_TESTS_PATH_YOJIMBO_H
#define CAUSEWAY_TESTS_PATH_YOJIMBO_H

#include "path_traffic.h"

/* Does what traffic_run does, with two ends that do so. */
struct traffic_result path_yojimbo_run(uint64_t seed, const struct cw_simulator_path *path,
                                       double seconds);

#endif
