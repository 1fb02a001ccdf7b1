/* The server's end of a line (line.h): it sends each item of its client back. */
#ifndef CAUSEWAY_LAB_ECHO_H
#define CAUSEWAY_LAB_ECHO_H

#include "causeway/base.h"
#include "lab/line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* The server's end of one line, for the datagrams of one address. */
struct cw_lab_echo;

/* Reads which line a datagram belongs to. Returns false when it does not begin like one of this
   version. */
bool cw_lab_echo_read(const uint8_t *data, size_t size, uint32_t *protocol, uint32_t *key);

/* *echo is set only on CW_OK. Errors: CW_ERROR_INVALID_ARGUMENT when there is no such protocol,
   CW_ERROR_NO_MEMORY. A zero allocator is malloc. */
enum cw_error cw_lab_echo_create(uint32_t protocol, uint32_t key,
                                 const struct cw_allocator *allocator, struct cw_lab_echo **echo);

/* NULL is allowed. */
void cw_lab_echo_destroy(struct cw_lab_echo *echo);

/* Takes a datagram that arrived. Returns false when it belongs to another line. */
bool cw_lab_echo_receive(struct cw_lab_echo *echo, const uint8_t *data, size_t size, double now);

/* Lets a tick pass. */
void cw_lab_echo_step(struct cw_lab_echo *echo, double now);

/* As cw_lab_line_transmit. */
size_t cw_lab_echo_transmit(struct cw_lab_echo *echo, uint8_t *out, size_t capacity, double now);

/* Writes the datagram that refuses a line, and returns its size; 0 when capacity is below
   CW_LAB_LINE_SERVER_HEADER. */
size_t cw_lab_echo_refuse(uint32_t key, enum cw_lab_answer answer, uint8_t *out, size_t capacity);

CW_END_DECLARATIONS

#endif
