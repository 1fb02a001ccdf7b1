/* The interface of the core for JavaScript, whose functions take and return numbers only. Each
   module of the core has one file here, and each of its functions one function. A result that does
   not fit in one number goes through the scratch area. */
#ifndef CAUSEWAY_EXPORTS_H
#define CAUSEWAY_EXPORTS_H

#include "causeway/client.h"
#include "causeway/server.h"
#include "causeway/simulator.h"
#include "exports/layouts.h"

#include <stdint.h>

#define CW_EXPORT(name) __attribute__((export_name(#name)))

/* The results of the latest call, valid until the next one. */
extern union cw_scratch {
    struct cw_created created;
    struct cw_created_message created_message;
    struct cw_endpoint_news endpoint_news;
    struct cw_connection_news connection_news;
    struct cw_server_news server_news;
    struct cw_server_destination server_destination;
    struct cw_server_about server_about;
    struct cw_client_slot client_slot;
    struct cw_client_farewell client_farewell;
    struct cw_token_facts token_facts;
    struct cw_policy_facts policy;
    struct cw_endpoint_stats endpoint_stats;
    struct cw_connection_stats connection_stats;
    struct cw_channel_stats channel_stats;
    struct cw_client_stats client_stats;
    struct cw_server_stats server_stats;
    struct cw_simulator_path simulator_path;
    struct cw_simulator_stats simulator_stats;
    uint32_t number;
} cw_scratch;

/* Returns an address as JavaScript has it. */
static inline uint32_t cw_place(const void *memory)
{
    return (uint32_t)(uintptr_t)memory;
}

/* The fields of a config come as doubles, of which NaN stands for the default. A number that does
   not fit becomes one that the field does not take: 0, or the largest where 0 is taken. */
void cw_set_u32(uint32_t *field, double value);
void cw_set_u32_or_0(uint32_t *field, double value);
void cw_set_f64(double *field, double value);

/* Reads count addresses with ports, C strings one behind the other. With CW_ERROR_ADDRESS, the
   number of the text that is no address goes to the scratch area. */
enum cw_error cw_read_addresses(struct cw_address *addresses, const char *text, uint32_t count);

/* Describes an event of a connection for JavaScript. */
struct cw_connection_news cw_tell_connection(const struct cw_connection_event *event);

void cw_set_endpoint(struct cw_endpoint_config *config, const struct cw_endpoint_numbers *numbers);

/* Makes a config of the numbers that JavaScript passes: those of the connection, and behind them
   those of channel_count channels. */
struct cw_connection_config cw_make_connection_config(const struct cw_schema *schema,
                                                      const struct cw_connection_numbers *numbers,
                                                      uint32_t channel_count);

#endif
