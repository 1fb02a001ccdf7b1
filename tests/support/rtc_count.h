/* Counts how much the relay of a rig does, by callgrind: no other load on the machine changes
   that. */
#ifndef CAUSEWAY_TESTS_RTC_COUNT_H
#define CAUSEWAY_TESTS_RTC_COUNT_H

#include "rtc_rig.h"

struct rtc_count {
    struct rtc_rig *rig;
    char folder[64]; /* where callgrind puts its files */
    unsigned files;  /* the number of files read so far */
};

struct rtc_work {
    double instructions; /* instructions of the relay itself and its libraries */
    double calls;        /* calls of the system */
};

/* Starts the rig as rtc_rig_start does, on 127.0.0.1, and counts. A failure ends the process with a
   message. */
void rtc_count_start(struct rtc_count *count, struct rtc_rig *rig, const char *program);

/* Returns what the relay has done since the last time, or since its start. */
struct rtc_work rtc_count_read(struct rtc_count *count);

/* Waits until the relay sleeps: then it has dealt with all that came. */
void rtc_count_settle(const struct rtc_count *count);

/* Stops the rig. Returns the relay's exit code. */
int rtc_count_stop(struct rtc_count *count);

#endif
