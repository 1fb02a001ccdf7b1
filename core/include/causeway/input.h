/* Brings a player's inputs from the client to the server, tick by tick.

       cw_input_sender_add(sender, tick, &input);                     client, each of its ticks
       size = cw_input_sender_transmit(sender, out, capacity);
       cw_input_receiver_receive(receiver, data, size, tick_time);    server, what has arrived
       own = cw_input_receiver_take(receiver, tick, &input);          server, each of its ticks

   Each body repeats the inputs of the last ticks that the server has not acked yet, each as its
   difference from the one before. So a lost packet does no harm. The server keeps early inputs and
   gives exactly one input per tick. When the input of a tick is missing, it repeats the one before.

       size = cw_input_receiver_transmit(receiver, out, capacity);    server, with each state

       cw_input_sender_receive(sender, data, size, &report);          client, each report
       cw_clock_sync_adjust(sync, report.tick, report.early_ticks, now);

   The last call tells the clock how early the inputs arrive, and so how far the client's ticks must
   run ahead. Send all bodies in messages on an unreliable channel. */
#ifndef CAUSEWAY_INPUT_H
#define CAUSEWAY_INPUT_H

#include "causeway/base.h"
#include "causeway/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* This is an error of this module; see base.h. */
#define CW_ERROR_TOO_EARLY ((enum cw_error)0x800)

#define CW_INPUT_REPORT_SIZE 6
#define CW_INPUT_MAX_COPIES  32
#define CW_INPUT_MAX_SIZE    4096 /* bytes of an input's struct */

/* Either end has such a config. */
struct cw_input_config {
    struct cw_allocator allocator;  /* zero: malloc */
    const struct cw_schema *schema; /* must outlive the object */
    uint32_t type; /* the type of the inputs; it must have a table of fields; default 0 */

    /* Sender only: the most packets that carry the same input, 1 to CW_INPUT_MAX_COPIES; default 6.
       An input is lost only when all of them are lost. */
    uint32_t copies;

    /* Receiver only: the number of ticks ahead that an input may arrive, 1 to 4096; default 64. */
    uint32_t max_early_ticks;
    /* Receiver only: the number of ticks in a row that repeat the last input when their own are
       missing; ticks after that get all zeros. 0 or more; default 30. */
    uint32_t max_repeats;
};

struct cw_input_config cw_input_config_default(const struct cw_schema *schema);

/* The client's end. */
struct cw_input_sender;

/* Returns the bytes of the one allocation that create makes, or 0 for a config that create
   refuses. */
size_t cw_input_sender_memory(const struct cw_input_config *config);

/* *sender is set only on CW_OK. Errors: that of a field, CW_ERROR_NO_MEMORY. */
enum cw_error cw_input_sender_create(const struct cw_input_config *config,
                                     struct cw_input_sender **sender);

/* NULL is allowed. */
void cw_input_sender_destroy(struct cw_input_sender *sender);

/* Goes back to the state after create. */
void cw_input_sender_reset(struct cw_input_sender *sender);

/* Takes the input of a tick, a struct of the type. Rounds the compressed floats in *input to the
   values that the server will get, so that both play the same input. A tick that does not follow
   the newest one discards all others. CW_ERROR_MESSAGE_VALUE, with nothing changed, when a field is
   out of range; cw_schema_check tells which. */
enum cw_error cw_input_sender_add(struct cw_input_sender *sender, uint32_t tick, void *input);

/* Writes the inputs that the server still lacks, as many of the newest as fit, and returns the
   size. Returns 0 when the server has all of them, or when the newest does not fit. */
size_t cw_input_sender_transmit(struct cw_input_sender *sender, uint8_t *out, size_t capacity);

/* This is the server's report about the inputs it received. */
struct cw_input_report {
    uint32_t acked; /* the server needs no inputs up to this tick */
    /* The tick of the input that came closest to being late, among those of the last 32 to 64
       ticks, and the number of ticks by which it was early; negative when it was late. */
    uint32_t tick;
    double early_ticks;
};

/* Takes a report from cw_input_receiver_transmit. On an error *report is untouched:
   CW_ERROR_MALFORMED for any other bytes, CW_ERROR_STALE when it is about a tick that was not
   added. */
enum cw_error cw_input_sender_receive(struct cw_input_sender *sender, const uint8_t *data,
                                      size_t size, struct cw_input_report *report);

/* The server's end, one for each client. */
struct cw_input_receiver;

/* These do the same as for a sender. */
size_t cw_input_receiver_memory(const struct cw_input_config *config);
enum cw_error cw_input_receiver_create(const struct cw_input_config *config,
                                       struct cw_input_receiver **receiver);
void cw_input_receiver_destroy(struct cw_input_receiver *receiver);
void cw_input_receiver_reset(struct cw_input_receiver *receiver);

/* Takes a body from a sender. tick_time is the server's tick time when it arrived, as for
   cw_clock_echo_transmit. An empty body comes from a sender that has nothing to tell, and is CW_OK.
   On any error no input is accepted:

   CW_ERROR_MALFORMED: the bytes are no inputs of this type.

   CW_ERROR_DUPLICATE: nothing in it is new. This is normal for packets that were overtaken.

   CW_ERROR_STALE: all its inputs are for ticks long past. CW_ERROR_TOO_EARLY: its newest input is
   for a tick more than max_early_ticks ahead. */
enum cw_error cw_input_receiver_receive(struct cw_input_receiver *receiver, const uint8_t *data,
                                        size_t size, double tick_time);

/* Copies the input for a tick to input, a struct of the type. Call it once per tick, in order; a
   tick that is not after the last one starts over. Returns true when the input is the client's own.
   Returns false when it repeats the one before, or when there is none and all bytes are zero. */
bool cw_input_receiver_take(struct cw_input_receiver *receiver, uint32_t tick, void *input);

/* Writes a report for the client, CW_INPUT_REPORT_SIZE bytes. Returns 0 when capacity is less, or
   before the first inputs. */
size_t cw_input_receiver_transmit(const struct cw_input_receiver *receiver, uint8_t *out,
                                  size_t capacity);

struct cw_input_receiver_stats {
    uint64_t taken;          /* ticks that got their input */
    uint64_t starved;        /* ticks that did not get their input */
    uint64_t late;           /* inputs that arrived after their tick */
    uint64_t refused;        /* packets that were malformed, stale or too early */
    uint32_t starved_in_row; /* latest ticks in a row that did not get their input */
    uint32_t waiting;        /* coming ticks in a row whose inputs are here */
};

void cw_input_receiver_get_stats(const struct cw_input_receiver *receiver,
                                 struct cw_input_receiver_stats *stats);

CW_END_DECLARATIONS

#endif
