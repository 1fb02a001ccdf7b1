/* Who owns a slot of a game server: handshake, takeover by a newer token of the same player, and moves between addresses.
   check.mjs has the sizes that are searched, and the guards that it removes with -DNAME=0 to see the search fail.

   A player has one or more programs, each with a token of its own, the later the newer. A program goes from address to
   address (networks, relays), and another program may be at an address that it has left. The network keeps what was ever
   sent, and delivers it at any time, any number of times, or never; a stranger sends all of it again from an address of
   his own. Each server numbers its challenges by itself. The bytes, keys and clocks are left out: who has not the keys of
   a token neither reads nor makes its packets, and a timeout may come whenever nothing of the client arrives.

   A step is there only while it changes something. So when none is left, all that was sent has arrived, and nobody may have
   lost a session: neither may a client ask in vain, nor may one play on a slot that it has not. Addresses, players
   and servers differ by nothing: a program goes to an address that is known already, or to the first that is not, and the
   first one to come is of the first player and at the first server.

   `file:function` in a comment names the function that a step stands for; check.mjs sees that it exists. */

#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef PROGRAMS
#define PROGRAMS 2 /* of one player */
#endif
#ifndef SERVERS
#define SERVERS 1
#endif
#ifndef ADDRESSES
#define ADDRESSES 2
#endif
#ifndef CHALLENGES
#define CHALLENGES 4 /* all that a server sends */
#endif
#ifndef TRIPS
#define TRIPS 2 /* changes of an address */
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 1 /* whether a slot is freed while its client is elsewhere */
#endif
#ifndef NEWER_TOKEN
#define NEWER_TOKEN 1
#endif
#ifndef FAREWELL
#define FAREWELL 1
#endif
#ifndef OTHER_AT_ADDRESS
#define OTHER_AT_ADDRESS 1
#endif
#ifndef ADDRESS_IN_PROOF
#define ADDRESS_IN_PROOF 1
#endif
#ifndef OLDEST_CHALLENGE
#define OLDEST_CHALLENGE 1
#endif
#ifndef FIRST_OF_MOVE
#define FIRST_OF_MOVE 1
#endif
#ifndef NEWEST_HEARD
#define NEWEST_HEARD 1
#endif
#ifndef CONSUMED
#define CONSUMED 1
#endif
#ifndef MOVE_BIT
#define MOVE_BIT 1
#endif
#ifndef ANY_ADDRESS
#define ANY_ADDRESS 1
#endif
#define PLAYERS  (CLIENTS / PROGRAMS)
#define STRANGER ADDRESSES
#define NOBODY   255
#define BIT(a)   (1 << (a))

/* What the network keeps: the addresses, as bits, from which the request with a token, and the response to a challenge,
   were sent; and the address at which the server has said that a challenge has moved the slot. */
typedef Challenge { byte client, to, answered_from, told_at; bit is_move };
typedef Challenges { Challenge at[CHALLENGES]; byte count };
Challenges sent[SERVERS];
byte requested_from[CLIENTS];

/* A player's slot at a server, and the place among those who connect. kept_for: the slot is kept for that client until
   the farewell to the last one is over. */
typedef Slot { byte client, address, challenge, kept_for, kept_address; byte pending, pending_at, first_challenge };
Slot slot[SERVERS * PLAYERS];

/* The history of used tokens: the one address from which each has come, and whether it has connected. */
byte used_at[CLIENTS];
bit consumed[CLIENTS];

byte home[CLIENTS], is_at[CLIENTS], first_of_move[CLIENTS], newest_heard[CLIENTS], addresses, trips = TRIPS;
bit connects[CLIENTS], connected[CLIENTS], moves[CLIENTS];
bit out[CLIENTS]; /* its time was up, or a newer token took its slot over */

#define MINE(c)  slot[home[c] * PLAYERS + (c) / PROGRAMS]
#define GIVEN(n) sent[s].at[n]
#define WHO      GIVEN(n).client

/* core/src/netcode/server_slots.c:cw_slots_by_address: whether another player is connected there. */
#if PLAYERS == 1
#define OTHER_AT(c, a) false
#else
#define OTHER(c) slot[home[c] * PLAYERS + 1 - (c) / PROGRAMS]
#define OTHER_AT(c, a) (OTHER(c).client != NOBODY && OTHER(c).address == (a))
#endif

/* core/src/netcode/server_slots.c:occupy. No client is put out without a farewell, no token connects twice and
   no two clients have one address. */
inline occupy(c, a)
{
    assert(MINE(c).client == NOBODY && MINE(c).kept_for == NOBODY);
    assert(!OTHER_AT(c, a) && a != STRANGER);
    MINE(c).client = c;
    MINE(c).address = a;
    MINE(c).challenge = 0
}

/* core/src/netcode/server_moves.c:cw_moves_request, core/src/netcode/server_handshake.c:is_ignored,
   core/src/netcode/server_handshake.c:claim_id, core/src/netcode/token_history.c:cw_token_history_use */
#define ARRIVES(from, a) (((from) & BIT(a)) || ((a) == STRANGER && (from)))
#define ADMITS(c, a)                                                                                          \
    ((!NEWER_TOKEN || MINE(c).client == NOBODY || MINE(c).client < (c)) && !(CONSUMED && consumed[c]) &&      \
     (used_at[c] == NOBODY || used_at[c] == (a)) &&                                                           \
     (MINE(c).pending == NOBODY || MINE(c).pending <= (c) || MINE(c).pending_at == (a)))
#define TAKES_REQUEST(c, a)                                                                                   \
    (sent[home[c]].count < CHALLENGES && ARRIVES(requested_from[c], a) && !OTHER_AT(c, a) &&                  \
     (MINE(c).client == (c) -> ANY_ADDRESS && MINE(c).address != (a) : ADMITS(c, a)))

/* core/src/netcode/server_handshake.c:cw_handshake_request, core/src/netcode/server_handshake.c:admit */
inline take_request(c, a)
{
    s = home[c];
    n = sent[s].count;
    WHO = c;
    GIVEN(n).to = a;
    GIVEN(n).is_move = MINE(c).client == c;
    sent[s].count++;
    if
    :: MINE(c).client != c ->
        used_at[c] = a;
        if
        :: MINE(c).pending != c || MINE(c).pending_at != a ->
            MINE(c).pending = c;
            MINE(c).pending_at = a;
            MINE(c).first_challenge = n
        :: else
        fi
    :: else
    fi;
    s = 0; n = 0
}

/* core/src/netcode/server_handshake.c:take_response, core/src/netcode/server_handshake.c:inherit,
   core/src/netcode/server_slots.c:cw_slots_replace, core/src/netcode/token_history.c:cw_token_history_consume */
#define CONNECTS(c, n, a)                                                                                     \
    (!GIVEN(n).is_move && MINE(c).pending == (c) && MINE(c).pending_at == (a) &&                              \
     (n) >= MINE(c).first_challenge && MINE(c).kept_for == NOBODY && !OTHER_AT(c, a) &&                       \
     !(CONSUMED && consumed[c]) && (!NEWER_TOKEN || MINE(c).client == NOBODY || MINE(c).client < (c)))
inline take_response(c, a)
{
    MINE(c).pending = NOBODY;
    MINE(c).pending_at = 0;
    MINE(c).first_challenge = 0;
    assert(!consumed[c]);
    consumed[c] = 1;
    if
    :: FAREWELL && MINE(c).client != NOBODY ->
        assert(MINE(c).client < c);
        out[MINE(c).client] = 1;
        MINE(c).client = NOBODY;
        MINE(c).kept_for = c;
        MINE(c).kept_address = a
    :: else -> occupy(c, a)
    fi
}

/* core/src/netcode/server_moves.c:cw_moves_response, core/src/netcode/server_slots.c:cw_slots_move. A client that believes
   that it has arrived is where its slot is, and nobody else is ever there. The user data of a challenge that is not for a
   move proves no address. */
#define MOVES(c, n, a)                                                                                        \
    ((GIVEN(n).is_move || !MOVE_BIT) && MINE(c).client == (c) && (!OTHER_AT_ADDRESS || !OTHER_AT(c, a)) &&    \
     (!ADDRESS_IN_PROOF || !GIVEN(n).is_move || GIVEN(n).to == (a)) &&                                        \
     (!OLDEST_CHALLENGE || (n) + 1 >= MINE(c).challenge) &&                                                   \
     (MINE(c).challenge != (n) + 1 || MINE(c).address != (a) || GIVEN(n).told_at != BIT(a)))
inline take_move(c, n, a)
{
    MINE(c).challenge = n + 1;
    MINE(c).address = a;
    GIVEN(n).told_at = BIT(a);
    assert(a != STRANGER && !OTHER_AT(c, a));
    assert(!connected[c] || moves[c] || is_at[c] == a)
}

/* core/src/netcode/client_move.c:cw_move_challenge. */
#define HEARS(c, n, a)                                                                                        \
    (is_at[c] == (a) && GIVEN(n).to == (a) && GIVEN(n).is_move == moves[c] &&                                 \
     (moves[c] -> !NEWEST_HEARD || (n) + 1 > newest_heard[c] : connects[c]) &&                                \
     (!(GIVEN(n).answered_from & BIT(a)) || (moves[c] && first_of_move[c] == 0)))

/* What a challenge does at an address, where its client or a stranger is: core/src/netcode/server_handshake.c:cw_handshake_response,
   core/src/netcode/client_move.c:cw_move_received */
proctype Challenge_at(byte s; byte n; byte a)
{
    byte c;
    do
    :: atomic { n < sent[s].count && HEARS(WHO, n, a) ->
           GIVEN(n).answered_from = GIVEN(n).answered_from | BIT(a);
           if :: moves[WHO] -> newest_heard[WHO] = n + 1 :: else fi;
           if :: moves[WHO] && first_of_move[WHO] == 0 -> first_of_move[WHO] = n + 1 :: else fi }
    :: atomic { ARRIVES(GIVEN(n).answered_from, a) && CONNECTS(WHO, n, a) -> c = WHO; take_response(c, a); c = 0 }
    :: atomic { ARRIVES(GIVEN(n).answered_from, a) && MOVES(WHO, n, a) -> c = WHO; take_move(c, n, a); c = 0 }
    :: atomic { (GIVEN(n).told_at & BIT(a)) && is_at[WHO] == a && moves[WHO] && first_of_move[WHO] != 0 &&
                (!FIRST_OF_MOVE || n + 1 >= first_of_move[WHO]) ->
           moves[WHO] = 0;
           first_of_move[WHO] = 0;
           assert(MINE(WHO).client != WHO || MINE(WHO).address == a) }
    od
}

#define IS_FREE(a) (is_at[0] != (a) && (CLIENTS < 2 || is_at[1] != (a)) && (CLIENTS < 3 || is_at[2 % CLIENTS] != (a)) && \
                    (CLIENTS < 4 || is_at[3 % CLIENTS] != (a)))
#define MAY_GO(a)  (IS_FREE(a) && (a) <= addresses && (a) < ADDRESSES)

/* Its request is sent at once: the network may delay it. */
inline go(c, a)
{
    is_at[c] = a;
    requested_from[c] = requested_from[c] | BIT(a);
    if :: a == addresses -> addresses++ :: else fi
}

/* A client and an address: core/src/netcode/client_move.c:cw_move_start. */
proctype Client_at(byte c; byte a)
{
    byte s, n;
    do
    :: atomic { is_at[c] == NOBODY && MAY_GO(a) && (c < PROGRAMS || addresses > 0) ->
           if :: home[c] = 0 :: SERVERS > 1 && addresses > 0 -> home[c] = 1 fi;
           go(c, a);
           connects[c] = 1 }
    :: atomic { TAKES_REQUEST(c, a) -> take_request(c, a) }
    :: atomic { connects[c] && MINE(c).client == c && MINE(c).address == a && is_at[c] == a ->
           connects[c] = 0;
           connected[c] = 1 }
    :: atomic { connected[c] && trips > 0 && MAY_GO(a) ->
           trips--;
           go(c, a);
           moves[c] = 1;
           first_of_move[c] = 0 }
    /* A program whose session is over tries its token again. */
    :: atomic { out[c] && connected[c] && is_at[c] == a ->
           connected[c] = 0;
           moves[c] = 0;
           first_of_move[c] = 0;
           connects[c] = 1 }
    od
}

/* core/src/netcode/server_handshake.c:cw_handshake_settle, core/src/netcode/server_slots.c:cw_slots_connect_kept,
   core/src/netcode/server_slots.c:cw_slots_unkeep, core/src/netcode/server_slots.c:cw_slots_update */
proctype Time(byte c)
{
    byte a;
    do
    :: atomic { MINE(c).kept_for == c ->
           a = MINE(c).kept_address;
           MINE(c).kept_for = NOBODY;
           MINE(c).kept_address = 0;
           if :: !OTHER_AT(c, a) -> occupy(c, a) :: else fi;
           a = 0 }
    :: atomic { TIMEOUTS && MINE(c).client == c && is_at[c] != MINE(c).address ->
           MINE(c).client = NOBODY;
           MINE(c).address = 0;
           MINE(c).challenge = 0;
           out[c] = 1 }
    od
}

/* When nothing is left to happen, each client plays on its slot. There are exceptions: its session is over; its player has a
   newer one or connects anew; a stranger's copy of its first request came before its own; another player's slot has come to
   its address, and its client is elsewhere; or the server has no challenge left for it. A move without a challenge has been in
   vain when the slot is there already: core/src/netcode/client_move.c:cw_move_update. */
#define PLAYS(c)                                                                                              \
    (connected[c] && (!moves[c] || first_of_move[c] == 0) && MINE(c).client == (c) && MINE(c).address == is_at[c])
#define HAS_NEWER(c)                                                                                          \
    ((MINE(c).client != NOBODY && MINE(c).client > (c)) || (MINE(c).pending != NOBODY && MINE(c).pending > (c)))
#define IS_KEPT_OUT(c) (used_at[c] == STRANGER || OTHER_AT(c, is_at[c]))
#define LAST(c)        sent[home[c]].at[CHALLENGES - 1]
#define GETS_NONE(c)                                                                                          \
    (sent[home[c]].count == CHALLENGES &&                                                                     \
     (LAST(c).client != (c) || LAST(c).to != is_at[c] || LAST(c).is_move != moves[c]))
proctype Quiet()
{
    byte c;
    atomic { timeout ->
        do
        :: c < CLIENTS -> assert(PLAYS(c) || out[c] || HAS_NEWER(c) || IS_KEPT_OUT(c) || GETS_NONE(c)); c++
        :: else -> break
        od }
}

init {
    byte c, s, n, a;
    atomic {
        do
        :: n < SERVERS * PLAYERS ->
            slot[n].client = NOBODY; slot[n].kept_for = NOBODY; slot[n].pending = NOBODY; n++
        :: else -> n = 0; break
        od;
        do
        :: c < CLIENTS ->
            used_at[c] = NOBODY;
            is_at[c] = NOBODY;
            run Time(c);
            a = 0;
            do :: a <= STRANGER -> run Client_at(c, a); a++ :: else -> break od;
            c++
        :: else -> break
        od;
        do
        :: s < SERVERS && n < CHALLENGES ->
            a = 0;
            do :: a <= STRANGER -> run Challenge_at(s, n, a); a++ :: else -> break od;
            n++
        :: s < SERVERS && n == CHALLENGES -> n = 0; s++
        :: else -> break
        od;
        run Quiet()
    }
}
