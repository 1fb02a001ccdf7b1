/* What a player does, tick by tick, from the client to the server.

       cw_input_sender_add(sender, tick, &input);                     client, each of its ticks
       size = cw_input_sender_transmit(sender, out, capacity);
       cw_input_receiver_receive(receiver, data, size, tick_time);    server, what has arrived
       own = cw_input_receiver_take(receiver, tick, &input);          server, each of its ticks

   Each body holds the inputs of the last ticks that the server has not acked, each as its
   difference from the one before, so that a packet that is lost costs nothing. The server keeps
   what is early, and gives exactly one input per tick: when there is none, the one before again.

       size = cw_input_receiver_transmit(receiver, out, capacity);    server, with each state it
   sends cw_input_sender_receive(sender, data, size, &report);          client
       cw_clock_sync_adjust(sync, report.tick, report.early_ticks, now);

   The last tells the client how early its inputs are, and so how far its ticks have to be ahead.
   All bodies are for messages on an unreliable channel. */
#ifndef CAUSEWAY_INPUT_H
#define CAUSEWAY_INPUT_H

#include "causeway/allocator.h"
#include "causeway/error.h"
#include "causeway/linkage.h"
#include "causeway/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

#define CW_INPUT_REPORT_SIZE 6
#define CW_INPUT_MAX_COPIES  32
#define CW_INPUT_MAX_SIZE    4096 /* bytes of an input's struct */

/* For both ends. */
struct cw_input_config {
    struct cw_allocator allocator;  /* zero: malloc */
    const struct cw_schema *schema; /* must outlive the object */
    uint32_t type;                  /* of an input: one with a table of fields; default 0 */

    /* The sender's: the most packets that carry the same input, 1 to CW_INPUT_MAX_COPIES; default
       6. One that is lost in all of them is lost. */
    uint32_t copies;

    /* The receiver's: how many ticks ahead an input may arrive, 1 to 4096; default 64. */
    uint32_t max_early_ticks;
    /* The receiver's: how many ticks in a row get the same input again because theirs is not here;
       those that follow get all zeros. From 0 up; default 30. */
    uint32_t max_repeats;
};

struct cw_input_config cw_input_config_default(const struct cw_schema *schema);

/* The client's end. */
struct cw_input_sender;

/* Bytes of the one allocation that create makes; 0 for a config that create refuses. */
size_t cw_input_sender_memory(const struct cw_input_config *config);

/* *sender is set only on CW_OK. Errors: CW_ERROR_INVALID_ARGUMENT without a schema,
   CW_ERROR_MESSAGE_TYPE for a type that the schema does not have or that has a function of its own,
   CW_ERROR_CONFIG_INPUT, CW_ERROR_NO_MEMORY. */
enum cw_error cw_input_sender_create(const struct cw_input_config *config,
                                     struct cw_input_sender **sender);

/* NULL is allowed. */
void cw_input_sender_destroy(struct cw_input_sender *sender);

/* Back to how it was created. */
void cw_input_sender_reset(struct cw_input_sender *sender);

/* Takes the input of a tick, a struct of the type, and rounds its compressed floats as the server
   will get them, so that both play with the same. A tick that is not the one after the newest
   forgets all others. CW_ERROR_MESSAGE_VALUE, with nothing changed, when a field is out of range:
   cw_schema_check tells which. */
enum cw_error cw_input_sender_add(struct cw_input_sender *sender, uint32_t tick, void *input);

/* Writes the inputs that the server lacks, as many of the newest as fit, and returns the size. 0
   when it has all, or when the newest does not fit. */
size_t cw_input_sender_transmit(struct cw_input_sender *sender, uint8_t *out, size_t capacity);

/* What the server tells about the inputs it got. */
struct cw_input_report {
    uint32_t acked; /* it needs no inputs up to this tick */
    /* Of those that arrived in the last 32 to 64 ticks, the one that came closest to being late,
       and how many ticks it was early; late when negative. */
    uint32_t tick;
    double early_ticks;
};

/* Takes what cw_input_receiver_transmit has written. On an error *report is left as it is:
   CW_ERROR_MALFORMED for other bytes, CW_ERROR_STALE when it is about a tick that was not added. */
enum cw_error cw_input_sender_receive(struct cw_input_sender *sender, const uint8_t *data,
                                      size_t size, struct cw_input_report *report);

/* The server's end, one for each client. */
struct cw_input_receiver;

/* As for a sender. */
size_t cw_input_receiver_memory(const struct cw_input_config *config);
enum cw_error cw_input_receiver_create(const struct cw_input_config *config,
                                       struct cw_input_receiver **receiver);
void cw_input_receiver_destroy(struct cw_input_receiver *receiver);
void cw_input_receiver_reset(struct cw_input_receiver *receiver);

/* Takes what a sender has written; tick_time is the server's, as of cw_clock_echo_transmit, when it
   arrived. On any error no input is taken:

   CW_ERROR_MALFORMED: the bytes are no inputs of this type.

   CW_ERROR_DUPLICATE: nothing in it is new, as is usual for packets that were overtaken.

   CW_ERROR_STALE: all of it is for ticks long past. CW_ERROR_TOO_EARLY: its newest is for a tick
   more than max_early_ticks ahead. */
enum cw_error cw_input_receiver_receive(struct cw_input_receiver *receiver, const uint8_t *data,
                                        size_t size, double tick_time);

/* Copies the input for a tick to input, a struct of the type. Call it once for each tick, in order;
   a tick that is not after the last begins anew. True: it is the client's. False: it had to repeat
   the one before, or there is none and all bytes are zero. */
bool cw_input_receiver_take(struct cw_input_receiver *receiver, uint32_t tick, void *input);

/* Writes a report for the client, CW_INPUT_REPORT_SIZE bytes. 0 when the capacity is less, and
   before the first inputs. */
size_t cw_input_receiver_transmit(const struct cw_input_receiver *receiver, uint8_t *out,
                                  size_t capacity);

struct cw_input_receiver_stats {
    uint64_t taken;          /* ticks that got their input */
    uint64_t starved;        /* ticks that did not */
    uint64_t late;           /* inputs that arrived after their tick */
    uint64_t refused;        /* packets, as malformed, stale or too early */
    uint32_t starved_in_row; /* ticks until now that did not get their input */
    uint32_t waiting;        /* ticks in a row from the next on whose inputs are here */
};

void cw_input_receiver_stats(const struct cw_input_receiver *receiver,
                             struct cw_input_receiver_stats *stats);

CW_END_DECLARATIONS

#endif
