#include "stats/counters.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct counters *counters_open(int fd)
{
    struct counters *counters =
        mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return counters == MAP_FAILED ? NULL : counters;
}

struct counters *counters_create(int *fd)
{
    *fd = memfd_create("causeway counters", MFD_CLOEXEC);
    if (*fd < 0)
        return NULL;
    struct counters *counters = ftruncate(*fd, sizeof *counters) == 0 ? counters_open(*fd) : NULL;
    if (!counters)
        close(*fd);
    return counters;
}

void counters_add(struct counters *sum, const struct counters *other)
{
#define COUNTERS_ADD(name, help) sum->stats.name += other->stats.name;
    STATS(COUNTERS_ADD)
#undef COUNTERS_ADD
#define COUNTERS_ADD_TIMES(name, help) histogram_add_all(&sum->stats.name, &other->stats.name);
    STATS_HISTOGRAMS(COUNTERS_ADD_TIMES)
#undef COUNTERS_ADD_TIMES
    sum->sessions_open += other->sessions_open;
    gauges_add(&sum->gauges, &other->gauges);
}

void counters_destroy(struct counters *counters)
{
    if (counters)
        munmap(counters, sizeof *counters);
}
