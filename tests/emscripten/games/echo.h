/* The task of every client here: it sends 40 short texts that may be lost, then three times one
   that must arrive whole, and an echo server sends all of them back. It prints "echo" or "bulk" and
   the milliseconds that each took, and at last "done". */
#ifndef TESTS_EMSCRIPTEN_ECHO_H
#define TESTS_EMSCRIPTEN_ECHO_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ECHO_SIZE = 64, BULK_SIZE = 20000, ECHOES = 40, BULKS = 3 };

#define ECHO_INTERVAL_MS 16.0

struct echo {
    int echoes;     /* short texts that were sent */
    int bulks;      /* long texts that were sent */
    int bulks_back; /* long texts that came back */
    double due;     /* the time when the next is sent */
    double echo_times[ECHOES];
    double bulk_time;
};

static inline double echo_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* Writes a text of its own for each number. */
static inline void echo_fill(char *text, size_t size, int number)
{
    for (size_t i = 0; i < size; i++)
        text[i] = (char)('a' + (i * i + (size_t)number) % 26);
    text[0] = (char)('!' + number);
}

/* Writes the text that is to be sent now into text, which has room for BULK_SIZE bytes. Returns its
   size: ECHO_SIZE, BULK_SIZE, or 0 for none. */
static inline size_t echo_next(struct echo *echo, char *text)
{
    const double now = echo_now_ms();
    if (now < echo->due || echo->bulks > echo->bulks_back || echo->bulks == BULKS)
        return 0;
    echo->due = now + ECHO_INTERVAL_MS;
    if (echo->echoes < ECHOES) {
        echo->echo_times[echo->echoes] = now;
        echo_fill(text, ECHO_SIZE, echo->echoes++);
        return ECHO_SIZE;
    }
    echo->bulk_time = now;
    echo_fill(text, BULK_SIZE, echo->bulks++);
    return BULK_SIZE;
}

static inline void echo_say(const char *what, double since)
{
    printf("%s %.3f\n", what, echo_now_ms() - since);
    fflush(stdout);
}

/* Takes a text that came back whole. */
static inline void echo_take(struct echo *echo, const char *text, size_t size)
{
    static char wanted[BULK_SIZE];
    const int number = size > 0 ? text[0] - '!' : -1;
    const bool is_bulk = size == BULK_SIZE;
    if ((!is_bulk && size != ECHO_SIZE) || number < 0 ||
        number >= (is_bulk ? echo->bulks : echo->echoes)) {
        printf("wrong %d of %zu bytes\n", number, size);
        return;
    }
    echo_fill(wanted, size, number);
    if (memcmp(wanted, text, size) != 0) {
        printf("wrong bytes in %d of %zu bytes\n", number, size);
        return;
    }
    echo_say(is_bulk ? "bulk" : "echo", is_bulk ? echo->bulk_time : echo->echo_times[number]);
    echo->bulks_back += is_bulk;
    if (echo->bulks_back == BULKS) {
        puts("done");
        fflush(stdout);
    }
}

static inline bool echo_done(const struct echo *echo)
{
    return echo->bulks_back == BULKS;
}

#endif
