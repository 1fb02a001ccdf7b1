/* The counters of the relay. */
#ifndef CAUSEWAY_RELAY_STATS_H
#define CAUSEWAY_RELAY_STATS_H

#include "stats/histogram.h"

#include <stdint.h>

/* X(name, help). Counters only grow; every datagram that came, and every session that ended or was
   refused, is in exactly one of them. "client" is the browser's side, "upstream" the game server's.
   So, when nothing is on its way inside the relay:

   client_datagrams = forwarded_datagrams + all of STATS_DROPPED_TO_SERVER
   upstream_datagrams + subflow_datagrams = delivered_datagrams + all of STATS_DROPPED_TO_BROWSER */
#define STATS_DROPPED_TO_SERVER(X)                                                                 \
    X(dropped_protocol, "to the game server: not a packet of a secure connection, or (--raw) "     \
                        "Emscripten's port message")                                               \
    X(dropped_from_browser_empty, "to the game server: no bytes")                                  \
    X(dropped_from_browser_oversize, "to the game server: longer than a datagram may be")          \
    X(dropped_unanswered, "to the game server: too many, or too early, before its first answer")   \
    X(dropped_upstream_rate, "to the game server: more than --upstream-packets or -bytes")         \
    X(dropped_upstream, "to the game server: its socket did not take it, or there was none")       \
    X(dropped_ended, "to the game server: its session had ended, or was refused")

#define STATS_DROPPED_TO_BROWSER(X)                                                                \
    X(dropped_age, "to a browser: waited longer than --queue-age")                                 \
    X(dropped_bytes, "to a browser: more waiting than --queue-bytes")                              \
    X(dropped_rate, "to a browser: more than --peer-rate")                                         \
    X(dropped_congested, "to a browser: too much on its way, not acknowledged")                    \
    X(dropped_unproven, "to a browser: its address is unproven and has had its share")             \
    X(dropped_closing, "to a browser: its session or link was ending")                             \
    X(dropped_unlinked, "to a browser: its session had no link")                                   \
    X(dropped_empty, "to a browser: no bytes")                                                     \
    X(dropped_oversize, "to a browser: longer than a datagram may be")

#define STATS(X)                                                                                   \
    X(sessions_opened, "sessions that began")                                                      \
    X(sessions_adopted, "sessions that began in another process of the relay")                     \
    X(sessions_asked, "links for whose session another process of the relay was asked")            \
    X(sessions_refused_full, "refused: --max-sessions reached")                                    \
    X(sessions_refused_address, "refused: --max-sessions-per-address reached")                     \
    X(sessions_refused_server, "refused: --upstream does not allow the game server asked for")     \
    X(sessions_refused_draining, "refused: the relay is stopping")                                 \
    X(sessions_refused_origin, "refused: the page's origin is not allowed")                        \
    X(sessions_refused_blocked, "refused: the operator has blocked the address")                   \
    X(sessions_ended_client, "ended by the browser or by its network")                             \
    X(sessions_ended_idle, "ended: no datagram for the idle timeout")                              \
    X(sessions_ended_silent, "ended: no connection request within --request-timeout")              \
    X(sessions_ended_unanswered, "ended: no answer from the game server within --answer-timeout")  \
    X(sessions_ended_down, "ended: nobody is at the address of the game server")                   \
    X(sessions_ended_unlinked, "ended: no new link in time (--resume-seconds)")                    \
    X(sessions_ended_evicted, "ended for others: not answered, no longer spoken to, or no link")   \
    X(sessions_ended_drain, "ended: the relay is stopping")                                        \
    X(sessions_ended_restart, "ended: another process of the relay goes on")                       \
    X(sessions_ended_moved, "ended: the next link came to another process, which goes on")         \
    X(sessions_ended_blocked, "ended: by the operator")                                            \
    X(sessions_ended_text, "ended: the browser sent text")                                         \
    X(sessions_ended_oversize, "ended: the browser sent a message longer than any datagram")       \
    X(sessions_ended_protocol, "ended: the browser sent no packets of a secure connection")        \
    X(sessions_ended_resources, "ended: no socket or memory for it")                               \
    X(sessions_unlinked, "times that a session lost its last link and waited for another")         \
    X(sessions_resumed, "times that another came")                                                 \
    X(links_joined, "links of sessions that were open already, these included")                    \
    X(client_datagrams, "datagrams taken from browsers")                                           \
    X(client_bytes, "their bytes")                                                                 \
    X(forwarded_datagrams, "datagrams handed to the sockets towards the game server")              \
    X(upstream_datagrams, "datagrams taken from the game server")                                  \
    X(upstream_bytes, "their bytes")                                                               \
    X(subflow_datagrams, "to browsers with several WebSockets: datagrams sent again, and "         \
                         "confirmations alone")                                                    \
    X(delivered_datagrams, "datagrams handed to the browsers' connections")                        \
    X(delivered_writes, "writes that this took")                                                   \
    STATS_DROPPED_TO_BROWSER(X)                                                                    \
    STATS_DROPPED_TO_SERVER(X)                                                                     \
    X(upstream_overflow, "datagrams from the game server that found a session's socket full")      \
    X(upstream_refused, "times the game server's port was found closed or unreachable")            \
    X(rtc_offers, "WebRTC offers that were answered")                                              \
    X(rtc_offers_refused, "offers that were malformed or asked for what the relay does not do")    \
    X(rtc_offers_full, "offers refused: too many were waiting")                                    \
    X(rtc_offers_limited, "offers refused: their address, or all together, made too many")         \
    X(rtc_offers_evicted, "offers that made room for others before they were open channels")       \
    X(rtc_offers_expired, "offers that did not become an open data channel in time")               \
    X(rtc_packets_ignored, "packets on the WebRTC port from unknown senders")                      \
    X(rtc_handshakes_waited,                                                                       \
      "packets of WebRTC handshakes that waited: handshakes had their share")                      \
    X(rtc_handshakes_dropped, "packets of WebRTC handshakes dropped: too many waited")             \
    X(rtc_packets_policed, "packets of a WebRTC browser that sent too many, dropped unread")       \
    X(rtc_packets_overflow, "packets to the WebRTC port that found its socket full")               \
    X(rtc_packets_unsent, "packets to browsers that the system did not take")                      \
    X(webtransport_requests, "requests for a WebTransport session that were accepted")             \
    X(webtransport_requests_refused, "such requests that were refused")                            \
    X(webtransport_handshakes_refused,                                                             \
      "WebTransport handshakes refused: too many, or handshakes had their share")                  \
    X(webtransport_handshakes_ended, "connections that did not ask for a session in time")         \
    X(webtransport_packets_ignored, "packets of QUIC for no connection")                           \
    X(webtransport_packets_policed, "packets of a connection that sent too many, dropped unread")  \
    X(connections_refused, "closed at once: their address had too many that were not sessions")    \
    X(handshakes_refused, "closed at once: their address had made too many TLS handshakes lately") \
    X(handshakes_waited,                                                                           \
      "TLS handshakes that waited: handshakes had their share of the processor")                   \
    X(proxy_headers_refused, "closed: no good PROXY header or head of a request from a proxy")     \
    X(connections_evicted, "closed to make room: too many altogether were not sessions")           \
    X(workers_hung, "workers that were killed because they hung")                                  \
    X(block_lists_read, "lists of --blocks-from that were read")                                   \
    X(block_lists_failed, "times that the list could not be read, and the blocks stayed")          \
    X(log_lines_dropped, "log lines that their reader did not take at once")

/* X(name, help) for histograms of seconds. */
#define STATS_HISTOGRAMS(X)                                                                        \
    X(setup_seconds, "from the first link of a session to the first answer of the game server")    \
    X(queue_age_seconds, "that datagrams waited which a WebSocket did not take at once")           \
    X(rtt_seconds, "that round trips to browsers took; of each session every --answer-timeout")    \
    X(loop_lag_seconds, "by which the event loop was late for a timer, while datagrams come")

struct stats {
#define STATS_MEMBER(name, help) uint64_t name;
    STATS(STATS_MEMBER)
#undef STATS_MEMBER
#define STATS_HISTOGRAM(name, help) struct histogram name;
    STATS_HISTOGRAMS(STATS_HISTOGRAM)
#undef STATS_HISTOGRAM
};

/* The numbers of datagrams of one link or session that were dropped, by reason. */
struct drops {
#define STATS_DROP(name, help) uint32_t name;
    STATS_DROPPED_TO_SERVER(STATS_DROP)
    STATS_DROPPED_TO_BROWSER(STATS_DROP)
#undef STATS_DROP
};

/* Counts datagrams that were dropped for a reason, among all and among those of a link or session.
 */
#define STATS_DROPPED(stats, drops, reason, count)                                                 \
    ((stats)->dropped_##reason += (count), (drops)->dropped_##reason += (uint32_t)(count))

/* Adds other drops to a sum, and returns how many these others are. */
uint64_t drops_add(struct drops *sum, const struct drops *other);

/* Writes all counters as log lines of name=value, with the number of open sessions. */
void stats_log(const struct stats *stats, unsigned open_sessions);

#endif
