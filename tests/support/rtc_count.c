#define _GNU_SOURCE
#include "rtc_count.h"

#include <stdlib.h>
#include <unistd.h>

static void fail(const char *what, const char *path)
{
    fprintf(stderr, "rtc_count: %s %s\n", what, path);
    exit(1);
}

void rtc_count_start(struct rtc_count *count, struct rtc_rig *rig, const char *program)
{
    char wrapper[256];
    *count = (struct rtc_count){.rig = rig, .folder = "/tmp/causeway-callgrind-XXXXXX"};
    if (!mkdtemp(count->folder))
        fail("cannot make", count->folder);
    /* The signal that makes the relay log its counters makes callgrind write its own to a new file
       first. */
    snprintf(wrapper, sizeof wrapper,
             "valgrind --quiet --tool=callgrind --collect-systime=yes --dump-before=stats_log "
             "--callgrind-out-file=%s/count --",
             count->folder);
    rtc_rig_start(rig, program, wrapper, "127.0.0.1");
}

struct rtc_work rtc_count_read(struct rtc_count *count)
{
    char path[128];
    char line[4096];
    struct rtc_work work = {0};
    rtc_rig_read_stats(count->rig);
    snprintf(path, sizeof path, "%s/count.%u", count->folder, ++count->files);
    FILE *file = fopen(path, "r");
    if (!file)
        fail("callgrind has not written", path);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "totals: %lf %lf", &work.instructions, &work.calls) == 2)
            break;
    fclose(file);
    unlink(path);
    if (work.instructions <= 0.0)
        fail("no count in", path);
    return work;
}

void rtc_count_settle(const struct rtc_count *count)
{
    char path[64];
    char state;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)count->rig->relay);
    do {
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1 || state == 'Z')
            fail("the relay has ended:", path);
        fclose(file);
        usleep(50);
    } while (state != 'S');
}

int rtc_count_stop(struct rtc_count *count)
{
    char path[128];
    const int code = rtc_rig_stop(count->rig);
    /* The relay logs its counters once more, and callgrind writes what comes after that. */
    snprintf(path, sizeof path, "%s/count.%u", count->folder, count->files + 1);
    unlink(path);
    snprintf(path, sizeof path, "%s/count", count->folder);
    unlink(path);
    rmdir(count->folder);
    return code;
}
