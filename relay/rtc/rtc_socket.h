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

/* Opens the socket at `socket_address`, or takes over the one that this process has inherited; [::]
   takes IPv4 too. `datagram` gets each datagram, and an empty one in place of one that is longer
   than any of ours. Returns NULL, with errno, when the socket cannot be opened. */
struct rtc_socket *rtc_socket_create(const struct socket_address *socket_address,
                                     struct inherited_sockets *inherited, struct loop *loop,
                                     void (*datagram)(void *context, const struct udp_path *path,
                                                      const uint8_t *data, size_t size),
                                     void *context);
void rtc_socket_destroy(struct rtc_socket *socket);

/* Opens only the socket, or takes it over. Returns -1, with errno, when it cannot. */
int rtc_socket_open(const struct socket_address *socket_address,
                    struct inherited_sockets *inherited);

/* Copies a datagram into the batch, which goes out at rtc_socket_flush, or when it is full. Returns
   false when the datagram is too long. */
bool rtc_socket_send(struct rtc_socket *socket, const struct udp_path *path, const uint8_t *data,
                     size_t size);

/* Sends the batch. Returns how many datagrams the system did not take. */
unsigned rtc_socket_flush(struct rtc_socket *socket);

/* Returns how many datagrams have found the socket full since the last call. */
uint32_t rtc_socket_overflow(struct rtc_socket *socket);

/* Logs how large a buffer the system gave the socket. */
void rtc_socket_report(const struct rtc_socket *socket);

/* Returns the socket's descriptor, for another process. */
int rtc_socket_descriptor(const struct rtc_socket *socket);

/* Stops receiving: another process does it from now on. */
void rtc_socket_leave(struct rtc_socket *socket);

/* Fills in the address at which the socket is bound. */
void rtc_socket_local(const struct rtc_socket *socket, struct socket_address *out);

/* Convert a socket address, IPv4 or IPv6, to the form that paths have, and back. */
void rtc_socket_address(const struct socket_address *socket_address, struct udp_address *out);
void rtc_socket_socket_address(const struct udp_address *address, struct socket_address *out);

#endif
