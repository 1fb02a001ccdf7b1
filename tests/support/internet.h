/* An internet in virtual time: pages, relays and game servers, with a queue of events. Real code
   decides, and what would take sockets or too much processor time is modelled.

   Real: the relay's sessions with their places, limits, evictions, gate, allowances, drain and
   hand-over (relay/session), its limit of offers, its budget of handshakes, and its list of game
   servers, with the clock, the timers and the sockets of this world in their places; the policy of
   every client (session/client_policy.h). One player of `sample` has a netcode client of its own,
   whose packets a real netcode server answers, ten times a second for as long as the player plays.

   Modelled: the other players' packets are copies of one handshake, and while nothing happens to
   them they send one each QUIET_SECONDS; the rules by which a page opens links, with the constants
   that are read from the sources in TypeScript; what a handshake and a datagram cost; paths, which
   have delays and no losses; WebSocket and WebRTC as one link that costs what both do. */
#ifndef CAUSEWAY_TESTS_INTERNET_H
#define CAUSEWAY_TESTS_INTERNET_H

#include "base/prng.h"
#include "causeway/netcode_client.h"
#include "causeway/netcode_server.h"
#include "causeway/token.h"
#include "limits/handshake_budget.h"
#include "rtc/offer_limit.h"
#include "session/client_policy.h"
#include "session/session_internal.h"

#define REGIONS 5
#define RELAYS  20 /* names of relays; those of a region follow one another */
#define SERVERS 50 /* game servers, as many in each region */
#define LISTED  3  /* the relays that a page is given */

#define TICK_SECONDS  0.1 /* between two steps of a page, and of a game server */
#define QUIET_SECONDS 5.0

#define WORKERS_MAX 16

#define CODE_BROKEN 1006 /* a WebSocket that ended without a code */

struct event {
    double time;
    uint64_t order; /* the lower number comes first of two events at one time */
    void (*run)(const struct event *event);
    void *object;
    const uint8_t *data; /* a datagram; freed after the event unless it is one of the copies */
    size_t size;
    uint32_t player;
    uint32_t number;
    unsigned slot;
};

/* A page that waits for its turn to shake hands. */
struct turn {
    uint32_t player;
    uint32_t attempt;
    unsigned slot;
};

struct worker {
    struct handshake_budget budget;
    struct offer_limit *offers;
    struct turn *turns; /* a ring */
    size_t first, count, capacity;
    bool waits; /* its next turn is in the queue of events */
};

enum machine_state {
    MACHINE_UP,
    MACHINE_REFUSES, /* the relay's process is gone, and its machine says so */
    MACHINE_SILENT,  /* nothing comes to browsers from there, and nothing arrives */
};

/* A machine with a relay. */
struct machine {
    enum machine_state state;
    unsigned region;
    struct stats stats;
    struct upstreams *upstreams;
    struct sessions *sessions;
    struct worker workers[WORKERS_MAX];
    struct page_link *links;
    double spent;     /* seconds of processor time for handshakes in this second */
    uint32_t arrived; /* attempts to open a link in this tick */
};

/* A relay as pages know it. */
struct relay {
    struct machine *machine;
    struct machine *old; /* where its name led before `moved`; NULL when it never moved */
    double moved;
};

/* One link, which the page and the machine have. */
struct page_link {
    struct session_link link;
    struct page_link *next, **place; /* in the machine's list, while the machine has it */
    struct machine *machine;         /* NULL when the machine is done with it */
    bool page_done;
    bool released;
    bool closing; /* the relay has closed it */
    uint32_t player;
    unsigned slot;
    uint32_t number;
};

/* A page's dealings with one of its relays: relays.ts, links.ts and dialer.ts. */
struct slot {
    unsigned relay;
    struct page_link *link; /* NULL while there is none */
    uint32_t attempt;       /* the number of the latest attempt; an older one is void */
    bool dials;
    bool waits; /* it dials again after a pause */
    bool has_session;
    bool replaces;     /* a link has been lost before */
    uint32_t received; /* datagrams that the link has brought */
    unsigned failures; /* the count of NearestSession */
    unsigned pauses;   /* the count of Dialer */
    double dialed;
    double took;
    uint32_t key; /* the number of the session's key */
};

enum core_phase { CORE_NONE, CORE_REQUEST, CORE_RESPONSE, CORE_CONNECTED };

struct player {
    bool present;
    bool ticks;
    bool asks; /* it is not known which relay is the nearest */
    bool kept;
    bool linked;
    bool opened;
    unsigned region;
    unsigned server;
    double last_mile; /* seconds of a round trip to the next exchange */
    int current;      /* the slot that carries datagrams; -1 when none has opened yet */
    struct slot slots[LISTED];
    struct cw_client_policy policy;
    double heard;   /* when the last packet came */
    double lost_at; /* when its path broke; 0 when it has one */
    /* the copy of a core */
    enum core_phase phase;
    bool moving;
    struct {
        bool in;
        uint32_t socket;
        double heard;
    } seat;                           /* its game server knows this */
    struct cw_netcode_client *client; /* the real one; NULL = copies */
};

struct internet {
    double now;
    struct cw_prng random;
    struct player *players;
    uint32_t player_count;
    uint32_t sample;
    unsigned workers; /* each relay has so many */
    unsigned places;  /* each relay has so many */
    struct relay relays[RELAYS];
    uint64_t events;
};
extern struct internet internet;

/* Seconds of processor time; relay/OPERATING.md has the measurements. */
#define COST_DATAGRAMS 18e-6 /* a datagram each way, with TLS */
#define COST_TLS       0.65e-3
#define COST_DTLS      1.2e-3
#define RATE           60.0 /* datagrams each way in a second */

/* The world tells these to the program that counts. */
void internet_back(struct player *player, double seconds);
void internet_lost(struct player *player);

/* Events of one time run in the order in which they were added. */
void event_add(double seconds, struct event event);
void events_run(double until);

double some(double least, double most);
struct cw_random random_source(void);

/* Relays. */
void machine_start(struct machine *machine, unsigned region);
void machine_stop(struct machine *machine, enum machine_state state);
void machine_upgrade(struct machine *machine);
void machine_drain(struct machine *machine);
struct machine *relay_machine(const struct relay *relay, uint32_t player);
/* Lets the machine begin a handshake with a page, when it has its turn. */
void machine_accept(struct machine *machine, uint32_t player, unsigned slot, uint32_t attempt);
/* Takes a datagram of the page over a link. */
void machine_receive(struct page_link *link, const uint8_t *data, size_t size);
/* Sends a quiet player's datagram to the game server and its answer back, at once. */
bool machine_refresh(struct page_link *link);
/* The page closes its link. */
void page_link_close(struct page_link *link);
/* Sends a datagram from a game server to one of the relays' sockets. */
void socket_send(uint32_t socket, unsigned server, const uint8_t *data, size_t size);

/* Pages. */
void pages_create(void);
void page_open(uint32_t player, unsigned region, unsigned server);
void page_leave(uint32_t player);
void page_wake(uint32_t player);
bool page_is_playing(const struct player *player);
void page_linked(uint32_t player, unsigned slot, struct page_link *link);
void page_failed(uint32_t player, unsigned slot);
void page_link_lost(uint32_t player, unsigned slot, unsigned code);
void page_receive(uint32_t player, unsigned slot, const uint8_t *data, size_t size);
/* Returns seconds of a way between a page and a relay. */
double page_way(const struct player *player, unsigned region);

/* Game servers, and the cores of the players. */
enum copied { COPY_REQUEST, COPY_CHALLENGE, COPY_RESPONSE, COPY_KEEP_ALIVE, COPIES };
struct copy {
    uint8_t bytes[CW_SECURE_MAX];
    size_t size;
};
extern struct copy copies[COPIES];
bool is_copy(const uint8_t *data);
void servers_create(void);
void server_receive(uint32_t player, uint32_t socket, const uint8_t *data, size_t size);
void core_connect(struct player *player);
void core_move(struct player *player);
/* Tells the server that the player leaves. */
void core_leave(struct player *player);
void core_receive(struct player *player, const uint8_t *data, size_t size);
/* Lets time pass; the datagrams go to page_send. */
void core_tick(struct player *player);
bool core_is_moving(const struct player *player);
void page_send(struct player *player, const uint8_t *data, size_t size);
double region_way(unsigned one, unsigned other);

#endif
