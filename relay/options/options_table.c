#include "options/options_internal.h"

#include <string.h>

/* Macros for the rows of the table: a row says which reader reads an option, and into which member.
 */
#define TO(reader, name)                                                                           \
    .read = (reader), .member = offsetof(struct options, name),                                    \
    .size = sizeof((struct options *)0)->name
/* A row whose option may be given several times, at most `most` times, counted in a member. */
#define UP_TO(times, name)     .repeats = (times), .count = offsetof(struct options, name)
#define NUMBER(name, from, to) TO(option_read_number, name), .least = (from), .most = (to)
#define WHOLE_NUMBER(name, from, to)                                                               \
    TO(option_read_whole_number, name), .least = (from), .most = (to)

const struct option_row options_table[] = {
    {.heading = "Where it listens, and where it sends",
     .name = "listen",
     .value = "ADDRESS:PORT",
     TO(option_read_listen, listen),
     UP_TO(OPTIONS_LISTEN_MAX, listen_count),
     .help = "where to accept browsers; [::]:8080 takes IPv6 and IPv4; port 0 takes any free port "
             "(the log tells which)"},
    {.name = "upstream",
     .value = "HOST[/BITS]:PORT[-PORT][,client-address=FORMAT]",
     TO(option_read_upstream, upstreams),
     UP_TO(UPSTREAM_LIST_MAX, upstreams.count),
     .reloads = true,
     .help =
         "the game server: an address, or a name, which is looked up again when its TTL expires. "
         "Given several times, as a prefix or with a range of ports (10.0.0.0/16:7000-7999), it "
         "lists all game servers that pages may ask for; then each page says which. A prefix "
         "includes loopback, link-local and multicast addresses only when all of it lies in such a "
         "network, and never those of this machine, which are given one by one. With a FORMAT the "
         "relay tells the game server each browser's address in a "
         "header, which the server must expect: spp (Simple Proxy Protocol, as Cloudflare "
         "Spectrum) before every datagram, or ppv2 (PROXY protocol, version 2) until the game "
         "server has answered, and before each request for a connection"},

    {.heading = "WebRTC",
     .name = "rtc",
     .value = "ADDRESS[:PORT]",
     TO(option_read_rtc, rtc_local),
     .help = "serve WebRTC to all browsers on this one UDP port; [::] takes IPv6 and IPv4; without "
             "a port, that of the first --listen. Browsers POST their offer to /rtc"},
    {.name = "rtc-advertise",
     .value = "ADDRESS[:PORT]",
     TO(option_read_rtc_advertise, rtc_advertised),
     UP_TO(OPTIONS_ADVERTISE_MAX, rtc_advertised_count),
     .help = "the public address of the UDP port (IPv4 and IPv6); default: the address that the "
             "offer came to, which is wrong behind a NAT or a reverse proxy"},
    {.name = "rtc-certificate",
     .value = "FILE",
     TO(option_read_text, rtc_certificate),
     .help = "a PEM file for DTLS, with --rtc-key; default: a new certificate at every start, "
             "which is as safe, since every answer has its hash"},
    {.name = "rtc-key",
     .value = "FILE",
     TO(option_read_text, rtc_key),
     .help = "the key of --rtc-certificate, a PEM file"},

    {.heading = "WebTransport",
     .name = "webtransport",
     TO(option_read_flag, webtransport),
     .help = "serve WebTransport too, on the UDP port of --rtc. Browsers POST to /webtransport for "
             "the address and the hashes of its certificates"},
    {.name = "webtransport-certificate",
     .value = "FILE",
     TO(option_read_text, webtransport_certificate),
     .reloads = true,
     .help = "a PEM file with a certificate that browsers trust, and its chain, with "
             "--webtransport-key; default: certificates of its own, valid for 14 days, which "
             "browsers trust by their hashes"},
    {.name = "webtransport-key",
     .value = "FILE",
     TO(option_read_text, webtransport_key),
     .reloads = true,
     .help = "the key of --webtransport-certificate, a PEM file"},

    {.heading = "TLS",
     .name = "tls-certificate",
     .value = "FILE",
     TO(option_read_tls_certificate, tls.certificates),
     UP_TO(TLS_CERTIFICATES_MAX, tls.certificate_count),
     .reloads = true,
     .help =
         "a PEM file with a certificate and its chain (certbot's fullchain.pem). Every --listen "
         "then speaks TLS. Of several certificates, a browser gets the one for the host that it "
         "asks for, or else the first. The files are read again on SIGHUP, and when they change"},
    {.name = "tls-key",
     .value = "FILE",
     TO(option_read_tls_key, tls.keys),
     UP_TO(TLS_CERTIFICATES_MAX, tls.key_count),
     .reloads = true,
     .help = "a PEM file with the key of a --tls-certificate (privkey.pem), in the same order"},
    {.name = "http-redirect",
     .value = "ADDRESS:PORT",
     TO(option_read_http_redirect, http_redirect),
     UP_TO(OPTIONS_LISTEN_MAX, http_redirect_count),
     .help = "where to accept plain HTTP and send every request to the first --listen ([::]:80)"},
    {.name = "hsts",
     .value = "SECONDS",
     WHOLE_NUMBER(hsts_seconds, 0, 4e9),
     .initial = "0",
     .zero = "say nothing",
     .help = "tell browsers to use nothing but HTTPS for this long (Strict-Transport-Security). It "
             "cannot be taken back"},

    {.heading = "Behind a reverse proxy",
     .name = "trusted-proxy",
     .value = "ADDRESS[/BITS]",
     TO(option_read_trusted_proxy, pages.proxies),
     UP_TO(PREFIX_LIST_MAX, pages.proxies.count),
     .reloads = true,
     .help = "a reverse proxy, or a network of them. For all limits and logs, a client's address "
             "is the one that the proxy gives: in a PROXY header (version 1 or 2) before the "
             "connection, or in X-Forwarded-For in each request. The proxy should pass on the "
             "requested host in X-Forwarded-Host; if it does not, and there is no --origin, pages "
             "of any origin are allowed"},

    {.heading = "Who may connect",
     .name = "origin",
     .value = "ORIGIN",
     TO(option_read_origin, pages.origins),
     UP_TO(ORIGIN_LIST_MAX, pages.origins.count),
     .reloads = true,
     .help = "allow pages of this origin (https://game.example); '*' allows all; default: the page "
             "must come from the host that it connects to. Clients that send no Origin header are "
             "not browsers and are always allowed"},
    {.name = "protocol-id",
     .value = "N",
     TO(option_read_protocol_id, gate.protocols),
     UP_TO(GATE_PROTOCOLS_MAX, gate.protocol_count),
     .reloads = true,
     .help = "take only secure connections of this game; decimal or 0x...; default: of any"},
    {.name = "raw",
     TO(option_read_flag, gate.raw),
     .reloads = true,
     .help = "take any datagrams. Without it, a session must begin with a request with a connect "
             "token, "
             "and only packets of a secure connection (netcode 1.02) are forwarded"},

    {.name = "blocks-from",
     .value = "URL",
     TO(option_read_blocks_from, blocks_from),
     .help = "block the addresses and prefixes (192.0.2.0/24) in this list, one a line, # begins a "
             "comment. It is fetched by HTTP or HTTPS at the start and every --blocks-interval. "
             "When that fails, the blocks stay as they are"},
    {.name = "blocks-interval",
     .value = "SECONDS",
     NUMBER(blocks_interval_seconds, 1, 86400),
     .initial = "30",
     .help = "fetch the list of --blocks-from this often"},

    {.heading = "Files of a page",
     .name = "root",
     .value = "DIRECTORY",
     TO(option_read_text, root),
     .help = "serve the files in it over HTTP"},

    {.heading = "How many",
     .name = "max-sessions",
     .value = "N",
     WHOLE_NUMBER(max_sessions, 1, 1e6),
     .initial = "1000",
     .reloads = true,
     .help =
         "at most N sessions at a time, or as many as the limit of open files (ulimit -n) allows. "
         "SIGHUP can raise it to twice what it was at the start, or lower it: then sessions "
         "go on, and no more begin until there are fewer than N. "
         "One more takes the place of the oldest that the game server has not answered, or no "
         "longer speaks to, unless its own address has opened more of late. Besides, there may be "
         "1024 connections without a session; one more closes the oldest"},
    {.name = "max-sessions-per-address",
     .value = "N",
     WHOLE_NUMBER(max_per_address, 0, 1e6),
     .initial = "100",
     .zero = "no limit",
     .reloads = true,
     .help = "at most N from one IPv4 address or IPv6 /64, six times as many connections without a "
             "session, six times as many TLS handshakes in a minute, and twice as many WebRTC "
             "offers at once, then a few a second"},

    {.heading = "How much, per browser",
     .name = "upstream-packets",
     .value = "N",
     NUMBER(allowance.packets_per_second, 0, 1e9),
     .initial = "1500",
     .zero = "no limit",
     .reloads = true,
     .help = "at most N datagrams per second from one browser to the game server, a quarter of "
             "them at once; more are dropped. Until the server has answered: 20 datagrams, then 2 "
             "per second. An address that opens one session after another gets no more than with "
             "all the sessions that it may have at a time"},
    {.name = "upstream-bytes",
     .value = "BYTES",
     NUMBER(allowance.bytes_per_second, 0, 1e12),
     .initial = "2000000",
     .zero = "no limit",
     .reloads = true,
     .help = "the same in bytes"},
    {.name = "peer-rate",
     .value = "BYTES",
     NUMBER(peer_bytes_per_second, 0, 1e12),
     .initial = "262144",
     .zero = "no limit",
     .reloads = true,
     .help = "at most this many bytes per second to one WebRTC browser, half of them at once; more "
             "are dropped"},

    {.heading = "How long, in seconds (which may have fractions)",
     .name = "request-timeout",
     .value = "SECONDS",
     NUMBER(request_timeout_seconds, 1, 1e6),
     .initial = REQUEST_SECONDS,
     .reloads = true,
     .help = "end a session (close code 4001) that has not asked for a connection (with --raw: "
             "sent a datagram) within this time"},
    {.name = "answer-timeout",
     .value = "SECONDS",
     NUMBER(answer_timeout_seconds, 1, 1e6),
     .initial = ANSWER_SECONDS,
     .reloads = true,
     .help =
         "end a session (4002) that the game server has not answered this long after it asked; "
         "after 3 seconds (4005) when nobody is at the server's address. A session to which the "
         "game server later says nothing for this long may lose its place when all are taken"},
    {.name = "idle-timeout",
     .value = "SECONDS",
     NUMBER(idle_timeout_seconds, 0, 1e6),
     .initial = IDLE_SECONDS,
     .zero = "never",
     .reloads = true,
     .help = "end a session (4000) without a datagram either way for this long. Hidden browser "
             "tabs may be silent for a minute"},
    {.name = "resume-seconds",
     .value = "SECONDS",
     NUMBER(resume_seconds, 0, 1e6),
     .initial = RESUME_SECONDS,
     .zero = "end it at once",
     .reloads = true,
     .help =
         "how long to keep a session that was answered after it has lost its connection, so that "
         "the same page can go on with another; when all places are taken it may end sooner"},
    {.name = "record",
     TO(option_read_flag, records),
     .reloads = true,
     .help = "keep what the last minute of each session carried, for the operator: see --admin"},
    {.name = "ping-interval",
     .value = "SECONDS",
     NUMBER(ping_interval_seconds, 0, 30000),
     .initial = PING_SECONDS,
     .zero = "never",
     .help =
         "ping each WebSocket this often, and drop it when it does not answer for twice as long"},

    {.heading = "How old a datagram may get",
     .name = "queue-age",
     .value = "SECONDS",
     NUMBER(queue_age_seconds, 0, 60),
     .initial = "0.25",
     .help = "how long a datagram may wait for a slow browser"},
    {.name = "coalesce-us",
     .value = "MICROSECONDS",
     WHOLE_NUMBER(coalesce_us, 0, 20000),
     .initial = "0",
     .zero = "serve at once",
     .reloads = true,
     .help = "wake up no more often than this, and then serve all that has come: at 300, a hundred "
             "players at 60 Hz cost two fifths less processor time, and round trips take about "
             "half a millisecond longer"},
    {.name = "queue-bytes",
     .value = "BYTES",
     WHOLE_NUMBER(queue_bytes, 0, 1e9),
     .initial = "65536",
     .help = "how many bytes may wait for a slow browser"},

    {.heading = "Running it",
     .name = "config",
     .value = "FILE",
     TO(option_read_text, config),
     .not_in_file = true,
     .help =
         "read options from this file too: lines of 'name = value', with the names in this list; # "
         "begins a comment. An option that can be given several times has a line for each value. "
         "The environment takes precedence over the file (CAUSEWAY_RELAY_MAX_SESSIONS; several "
         "values are separated by spaces), and the command line over both"},
    {.name = "check-config",
     TO(option_read_flag, check_config),
     .not_in_file = true,
     .help = "only check the options, and the certificates that they name: print 'ok', or what is "
             "wrong, and where"},
    {.name = "admin",
     .value = "[ADDRESS:]PORT",
     TO(option_read_admin, admin_local),
     .help = "answer the operator here, over plain HTTP: /metrics, /healthz, /readyz, /sessions, "
             "/blocks. Without an address, only programs on this machine are answered (127.0.0.1). "
             "There is no password: whoever can reach the address may ask, and end sessions"},
    {.name = "drain-timeout",
     .value = "SECONDS",
     NUMBER(drain_timeout_seconds, 0, 1e6),
     .initial = "30",
     .zero = "end them at once",
     .help = "after SIGTERM, refuse new sessions and let those that are open go on for this long"},
    {.name = "exec",
     .value = "COMMAND",
     TO(option_read_text, exec),
     .help =
         "start a game server beside the relay, for a container that has both: a program and its "
         "arguments, as a shell reads them. SIGTERM and SIGINT go to both. When one of them ends, "
         "so does the other, and the exit code is that of the game server, or of the relay if only "
         "the relay has failed. Then there is no upgrade by SIGUSR2"},
    {.name = "log-level",
     .value = "LEVEL",
     TO(option_read_log_level, log_level),
     .initial = "info",
     .reloads = true,
     .help = "error, warn, info or debug"},
    {.name = "log-format",
     .value = "FORMAT",
     TO(option_read_log_format, log_format),
     .initial = "text",
     .reloads = true,
     .help = "text, or json: one object per line, with the members time, level, worker if a worker "
             "writes it, and message, and one for each field that a line has in text"},
    {.name = "workers",
     .value = "N",
     TO(option_read_workers, workers),
     .help = "serve from N processes beside this one; auto: one for each core. The system divides "
             "the connections; a session moves to where its next link comes, and a process that "
             "dies is started again. Each has its share of --max-sessions; the limits per address "
             "hold for each. With --rtc the first has its port and each other the next one"},
    {.name = "watchdog",
     .value = "SECONDS",
     WHOLE_NUMBER(watchdog_seconds, 0, 1e6),
     .initial = "10",
     .zero = "never",
     .help = "when the event loop is stuck for this many (whole) seconds of processor time, log "
             "the stack and abort. A supervisor should then start the relay again"},
    {.name = "help", TO(option_read_flag, help), .not_in_file = true, .help = "print this"},
    {.name = "version",
     TO(option_read_flag, version),
     .not_in_file = true,
     .help = "print the version"},
    {0},
};

const struct option_row *options_find(const char *name, size_t size)
{
    for (const struct option_row *row = options_table; row->name; row++) {
        if (strlen(row->name) == size && memcmp(row->name, name, size) == 0)
            return row;
    }
    return NULL;
}
