/* Who owns a slot of a game server: handshake, takeover by a newer token of the same player, and moves between addresses.
   check.mjs has the sizes that are searched, and the guards that it removes with -DNAME=0 to see the search fail.

   A player has one or more programs, each with a token of its own, the later the newer. A program goes from address to
   address (networks, relays), and another program may be at an address that it has left. The network keeps what was ever
   sent, and delivers it at any time, any number of times, or never; a stranger sends all of it again from an address of
   his own. Each server numbers its challenges by itself. The bytes, keys and clocks are left out: who has not the keys of
   a token neither reads nor makes its packets, and a timeout may come whenever nothing of the client arrives.

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
#define PLAYERS  (CLIENTS / PROGRAMS)
#define STRANGER ADDRESSES
#define NOBODY   255
#define BIT(a)   (1 << (a))
#define TOKEN(s, c) ((s) * CLIENTS + (c))
#define SLOT(s, c)  ((s) * PLAYERS + (c) / PROGRAMS)

/* What the network keeps: the addresses, as bits, from which the request with a token, and the response to a challenge,
   were sent; and the address at which the server has said that a challenge has moved the slot. */
typedef Challenge { byte client, to, answered_from, told_at; bit is_move };
typedef Challenges { Challenge at[CHALLENGES]; byte count };
Challenges sent[SERVERS];
byte requested_from[SERVERS * CLIENTS];

/* A player's slot at a server, and the place among those who connect. kept_for: the slot is kept for that client until
   the farewell to the last one is over. */
typedef Slot { byte client, address, challenge, kept_for, kept_address; byte pending, pending_at, first_challenge };
Slot slot[SERVERS * PLAYERS];

/* The history of used tokens: the one address from which each has come, and whether it has connected. */
byte used_at[SERVERS * CLIENTS];
bit consumed[SERVERS * CLIENTS];

byte home[CLIENTS], is_at[CLIENTS], first_of_move[CLIENTS], trips = TRIPS;
bit connects[CLIENTS], connected[CLIENTS], moves[CLIENTS];

#define MINE(c)  slot[SLOT(home[c], c)]
#define GIVEN(n) sent[s].at[n]

/* core/src/netcode/server_slots.c:cw_slots_by_address: whether another player is connected there. */
#if PLAYERS == 1
#define OTHER_AT(s, c, a) false
#else
#define OTHER_AT(s, c, a) \
    (slot[(s) * PLAYERS + 1 - (c) / PROGRAMS].client != NOBODY && slot[(s) * PLAYERS + 1 - (c) / PROGRAMS].address == (a))
#endif

inline send_challenge(c, a, move)
{
    if
    :: sent[s].count < CHALLENGES ->
        GIVEN(sent[s].count).client = c;
        GIVEN(sent[s].count).to = a;
        GIVEN(sent[s].count).is_move = move;
        sent[s].count++
    :: else
    fi
}

/* core/src/netcode/server_slots.c:occupy. No client is put out without a farewell, no token connects twice and
   no two clients have one address. */
inline occupy(c, a)
{
    assert(slot[SLOT(s, c)].client == NOBODY && slot[SLOT(s, c)].kept_for == NOBODY);
    assert(!OTHER_AT(s, c, a) && a != STRANGER);
    slot[SLOT(s, c)].client = c;
    slot[SLOT(s, c)].address = a;
    slot[SLOT(s, c)].challenge = 0
}

inline forget_pending(c)
{
    slot[SLOT(s, c)].pending = NOBODY;
    slot[SLOT(s, c)].pending_at = 0;
    slot[SLOT(s, c)].first_challenge = 0
}

/* core/src/netcode/server_handshake.c:cw_handshake_request, core/src/netcode/server_moves.c:cw_moves_request,
   core/src/netcode/server_handshake.c:admit, core/src/netcode/server_handshake.c:is_ignored,
   core/src/netcode/server_handshake.c:claim_id, core/src/netcode/token_history.c:cw_token_history_use */
inline take_request(c, a)
{
    if
    :: slot[SLOT(s, c)].client == c ->
        if :: slot[SLOT(s, c)].address != a && !OTHER_AT(s, c, a) -> send_challenge(c, a, 1) :: else fi
    :: slot[SLOT(s, c)].client != c ->
        if
        :: OTHER_AT(s, c, a)
        :: NEWER_TOKEN && slot[SLOT(s, c)].client != NOBODY && slot[SLOT(s, c)].client > c
        :: consumed[TOKEN(s, c)] || (used_at[TOKEN(s, c)] != NOBODY && used_at[TOKEN(s, c)] != a)
        :: slot[SLOT(s, c)].pending != NOBODY && slot[SLOT(s, c)].pending > c && slot[SLOT(s, c)].pending_at != a
        :: else ->
            used_at[TOKEN(s, c)] = a;
            if
            :: slot[SLOT(s, c)].pending != c || slot[SLOT(s, c)].pending_at != a ->
                slot[SLOT(s, c)].pending = c;
                slot[SLOT(s, c)].pending_at = a;
                slot[SLOT(s, c)].first_challenge = sent[s].count
            :: else
            fi;
            send_challenge(c, a, 0)
        fi
    fi
}

/* core/src/netcode/server_handshake.c:take_response, core/src/netcode/server_handshake.c:inherit,
   core/src/netcode/server_slots.c:cw_slots_replace, core/src/netcode/token_history.c:cw_token_history_consume */
inline take_response(n, c, a)
{
    if
    :: slot[SLOT(s, c)].pending == c && slot[SLOT(s, c)].pending_at == a && n >= slot[SLOT(s, c)].first_challenge &&
       slot[SLOT(s, c)].kept_for == NOBODY && !OTHER_AT(s, c, a) && !consumed[TOKEN(s, c)] &&
       (!NEWER_TOKEN || slot[SLOT(s, c)].client == NOBODY || slot[SLOT(s, c)].client < c) ->
        forget_pending(c);
        assert(!consumed[TOKEN(s, c)]);
        consumed[TOKEN(s, c)] = 1;
        if
        :: FAREWELL && slot[SLOT(s, c)].client != NOBODY ->
            assert(slot[SLOT(s, c)].client < c);
            slot[SLOT(s, c)].client = NOBODY;
            slot[SLOT(s, c)].kept_for = c;
            slot[SLOT(s, c)].kept_address = a
        :: else -> occupy(c, a)
        fi
    :: else
    fi
}

/* core/src/netcode/server_moves.c:cw_moves_response, core/src/netcode/server_slots.c:cw_slots_move. A client that believes
   that it has arrived is where its slot is, and nobody else is ever there. */
inline take_move(n, c, a)
{
    if
    :: slot[SLOT(s, c)].client == c && (!OTHER_AT_ADDRESS || !OTHER_AT(s, c, a)) &&
       (!ADDRESS_IN_PROOF || GIVEN(n).to == a) && (!OLDEST_CHALLENGE || n + 1 >= slot[SLOT(s, c)].challenge) ->
        slot[SLOT(s, c)].challenge = n + 1;
        slot[SLOT(s, c)].address = a;
        GIVEN(n).told_at = BIT(a);
        assert(a != STRANGER && !OTHER_AT(s, c, a));
        assert(!connected[c] || moves[c] || is_at[c] == a)
    :: else
    fi
}

/* Whatever arrives at a server: core/src/netcode/server_handshake.c:cw_handshake_response */
proctype Server(byte s)
{
    byte c, a, n;
    do
    :: atomic {
           select(c : 0 .. CLIENTS - 1);
           select(a : 0 .. STRANGER);
           if
           :: (requested_from[TOKEN(s, c)] & BIT(a)) || (a == STRANGER && requested_from[TOKEN(s, c)]) -> take_request(c, a)
           :: else
           fi;
           c = 0; a = 0 }
    :: atomic {
           select(n : 0 .. CHALLENGES - 1);
           select(a : 0 .. STRANGER);
           c = GIVEN(n).client;
           if
           :: GIVEN(n).answered_from == 0 || (a != STRANGER && !(GIVEN(n).answered_from & BIT(a)))
           :: else ->
               if
               :: GIVEN(n).is_move -> take_move(n, c, a)
               :: !GIVEN(n).is_move -> take_response(n, c, a)
               fi
           fi;
           c = 0; a = 0; n = 0 }
    /* core/src/netcode/server_handshake.c:cw_handshake_settle, core/src/netcode/server_slots.c:cw_slots_connect_kept,
       core/src/netcode/server_slots.c:cw_slots_unkeep */
    :: atomic {
           select(c : 0 .. CLIENTS - 1);
           if
           :: slot[SLOT(s, c)].kept_for == c ->
               slot[SLOT(s, c)].kept_for = NOBODY;
               a = slot[SLOT(s, c)].kept_address;
               slot[SLOT(s, c)].kept_address = 0;
               if :: !OTHER_AT(s, c, a) -> occupy(c, a) :: else fi
           :: else
           fi;
           c = 0; a = 0 }
    /* core/src/netcode/server_slots.c:cw_slots_update */
    :: atomic {
           select(c : 0 .. CLIENTS - 1);
           if
           :: slot[SLOT(s, c)].client == c && (home[c] != s || is_at[c] != slot[SLOT(s, c)].address) ->
               slot[SLOT(s, c)].client = NOBODY;
               slot[SLOT(s, c)].address = 0;
               slot[SLOT(s, c)].challenge = 0
           :: else
           fi;
           c = 0 }
    od
}

#define IS_FREE(a) (is_at[0] != (a) && (CLIENTS < 2 || is_at[1] != (a)) && (CLIENTS < 3 || is_at[2 % CLIENTS] != (a)) && \
                    (CLIENTS < 4 || is_at[3 % CLIENTS] != (a)))

/* core/src/netcode/client_move.c:cw_move_start, core/src/netcode/client_move.c:cw_move_challenge,
   core/src/netcode/client_move.c:cw_move_received */
proctype Client(byte c)
{
    byte n, a, s;
    atomic {
        select(s : 0 .. SERVERS - 1);
        select(a : 0 .. ADDRESSES - 1);
        IS_FREE(a);
        home[c] = s; is_at[c] = a; connects[c] = 1; a = 0
    };
    do
    :: atomic { connects[c] || moves[c] ->
           requested_from[TOKEN(s, c)] = requested_from[TOKEN(s, c)] | BIT(is_at[c]) }
    :: atomic { connects[c] || moves[c] ->
           select(n : 0 .. CHALLENGES - 1);
           if
           :: n < sent[s].count && GIVEN(n).client == c && GIVEN(n).to == is_at[c] && GIVEN(n).is_move == moves[c] ->
               GIVEN(n).answered_from = GIVEN(n).answered_from | BIT(is_at[c]);
               if :: moves[c] && first_of_move[c] == 0 -> first_of_move[c] = n + 1 :: else fi
           :: else
           fi;
           n = 0 }
    :: atomic { connects[c] && MINE(c).client == c && MINE(c).address == is_at[c] -> connects[c] = 0; connected[c] = 1 }
    :: atomic { moves[c] && first_of_move[c] != 0 ->
           select(n : 0 .. CHALLENGES - 1);
           if
           :: GIVEN(n).client == c && (GIVEN(n).told_at & BIT(is_at[c])) &&
              (!FIRST_OF_MOVE || n + 1 >= first_of_move[c]) ->
               moves[c] = 0;
               first_of_move[c] = 0;
               assert(MINE(c).client != c || MINE(c).address == is_at[c])
           :: else
           fi;
           n = 0 }
    :: atomic { connected[c] && trips > 0 ->
           select(a : 0 .. ADDRESSES - 1);
           if
           :: IS_FREE(a) -> trips--; is_at[c] = a; moves[c] = 1; first_of_move[c] = 0
           :: else
           fi;
           a = 0 }
    od
}

init {
    byte i;
    atomic {
        do
        :: i < SERVERS * PLAYERS ->
            slot[i].client = NOBODY; slot[i].kept_for = NOBODY; slot[i].pending = NOBODY; i++
        :: else -> i = 0; break
        od;
        do :: i < SERVERS * CLIENTS -> used_at[i] = NOBODY; i++ :: else -> i = 0; break od;
        do :: i < CLIENTS -> is_at[i] = NOBODY; i++ :: else -> i = 0; break od;
        do :: i < SERVERS -> run Server(i); i++ :: else -> i = 0; break od;
        do :: i < CLIENTS -> run Client(i); i++ :: else -> break od
    }
}
