/* The UDP socket that all browsers share. It handles datagrams in batches, each with both of its
   addresses. */
#ifndef CAUSEWAY_RELAY_RTC_SOCKET_H
#define CAUSEWAY_RELAY_RTC_SOCKET_H

#include "os/inherited_sockets.h"
#include "os/loop.h"
#include "os/socket_address.h"
#include "rtc/udp_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rtc_socket;

/* Opens it at `socket_address`, or takes over the one that this process has inherited; [::] takes
   IPv4 too. `datagram` gets each datagram, and an empty one in place of one that is longer than any
   of ours. NULL, with errno, when it cannot be opened.
   */
struct rtc_socket *rtc_socket_create(const struct socket_address *socket_address,
                                     struct inherited_sockets *inherited, struct loop *loop,
                                     void (*datagram)(void *context, const struct udp_path *path,
                                                      const uint8_t *data, size_t size),
                                     void *context);
void rtc_socket_destroy(struct rtc_socket *socket);

/* Opens only the socket, or takes it over. -1, with errno, when it cannot. */
int rtc_socket_open(const struct socket_address *socket_address,
                    struct inherited_sockets *inherited);

/* Copies a datagram into the batch, which goes out at rtc_socket_flush, or when it is full. False
   when it is too long. */
bool rtc_socket_send(struct rtc_socket *socket, const struct udp_path *path, const uint8_t *data,
                     size_t size);

/* Sends the batch. Returns how many datagrams the system did not take. */
unsigned rtc_socket_flush(struct rtc_socket *socket);

/* How many datagrams have found the socket full since the last call. */
uint32_t rtc_socket_overflow(struct rtc_socket *socket);

/* Logs how much the system gave it to hold what comes. */
void rtc_socket_report(const struct rtc_socket *socket);

/* Its descriptor, for another process. */
int rtc_socket_descriptor(const struct rtc_socket *socket);

/* Receives nothing any more: another process does. */
void rtc_socket_leave(struct rtc_socket *socket);

/* Where it is bound. */
void rtc_socket_local(const struct rtc_socket *socket, struct socket_address *out);

/* Converts a socket address, IPv4 or IPv6, to the form that paths have, and back. */
void rtc_socket_address(const struct socket_address *socket_address, struct udp_address *out);
void rtc_socket_socket_address(const struct udp_address *address, struct socket_address *out);

#endif
