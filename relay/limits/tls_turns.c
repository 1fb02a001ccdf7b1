#include "limits/tls_turns.h"

#include <openssl/bio.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Each connection that shakes hands has a turn, which belongs to its SSL. */
struct turn {
    struct tls_turns *turns; /* NULL before the connection has entered */
    struct lws *wsi;
    struct lws_dll2 place; /* its place in a list while the connection waits */
    bool is_early;
    bool has_waited;
    bool is_due;  /* its turn has come */
    bool has_it;  /* its turn is not over */
    double began; /* the processor time when it began */
};

struct tls_turns {
    struct handshake_budget *budget;
    struct stats *stats;
    struct loop *loop;
    struct loop_timer timer;
    /* Connections that have just begun to wait: libwebsockets goes on listening to them when it has
       left the call in which they began. */
    struct lws_dll2_owner fresh;
    struct lws_dll2_owner early;
    struct lws_dll2_owner late;
};

static struct turn *first_of(const struct lws_dll2_owner *line)
{
    struct lws_dll2 *place = lws_dll2_get_head((struct lws_dll2_owner *)line);
    return place ? lws_container_of(place, struct turn, place) : NULL;
}

static struct turn *first_of_all(const struct tls_turns *turns)
{
    struct turn *first = first_of(&turns->early);
    return first ? first : first_of(&turns->late);
}

static void on_timer(void *context)
{
    struct tls_turns *turns = context;
    struct turn *turn;
    while ((turn = first_of(&turns->fresh))) {
        lws_dll2_remove(&turn->place);
        lws_dll2_add_tail(&turn->place, turn->is_early ? &turns->early : &turns->late);
        lws_rx_flow_control(turn->wsi, 0);
    }
    const double wait = handshake_budget_wait(turns->budget, HANDSHAKE_TLS, loop_now());
    turn = first_of_all(turns);
    if (turn && wait <= 0.0) {
        lws_dll2_remove(&turn->place);
        turn->is_due = true;
        lws_rx_flow_control(turn->wsi, 1);
    }
    /* The next connection waits for another turn of the loop: by then the processor time of this
       one is known. */
    if (first_of_all(turns))
        loop_timer_start(turns->loop, &turns->timer, wait);
}

struct tls_turns *tls_turns_create(struct loop *loop, struct handshake_budget *budget,
                                   struct stats *stats)
{
    struct tls_turns *turns = calloc(1, sizeof *turns);
    if (!turns)
        return NULL;
    turns->loop = loop;
    turns->budget = budget;
    turns->stats = stats;
    turns->timer.expired = on_timer;
    turns->timer.context = turns;
    return turns;
}

void tls_turns_destroy(struct tls_turns *turns)
{
    free(turns);
}

/* Makes a connection wait for its turn, if there is anything to read. */
static void begin_to_wait(struct turn *turn, int fd)
{
    struct tls_turns *turns = turn->turns;
    char byte;
    if (turn->place.owner || recv(fd, &byte, 1, MSG_PEEK) < 0)
        return;
    if (!turn->has_waited)
        turns->stats->handshakes_waited++;
    turn->has_waited = true;
    lws_dll2_add_tail(&turn->place, &turns->fresh);
    loop_timer_start(turns->loop, &turns->timer, 0.0);
}

static bool may_read(struct turn *turn, int fd)
{
    struct tls_turns *turns = turn->turns;
    if (turn->has_it || !turns)
        return turn->has_it;
    const bool is_free = !turn->place.owner && !first_of(&turns->fresh) && !first_of_all(turns) &&
                         handshake_budget_wait(turns->budget, HANDSHAKE_TLS, loop_now()) <= 0.0;
    if (!turn->is_due && !is_free) {
        begin_to_wait(turn, fd);
        return false;
    }
    turn->is_due = false;
    turn->has_it = true;
    turn->began = handshake_clock();
    return true;
}

static int on_read(BIO *bio, char *out, int size)
{
    BIO *socket = BIO_next(bio);
    BIO_clear_retry_flags(bio);
    if (!may_read(BIO_get_data(bio), (int)BIO_get_fd(socket, NULL))) {
        BIO_set_retry_read(bio);
        return -1;
    }
    const int result = BIO_read(socket, out, size);
    BIO_copy_next_retry(bio);
    return result;
}

static long on_control(BIO *bio, int command, long number, void *pointer)
{
    return BIO_ctrl(BIO_next(bio), command, number, pointer);
}

/* Returns a filter that stands before the socket. Nothing is written through it. */
static BIO_METHOD *filter(void)
{
    static BIO_METHOD *method;
    if (method)
        return method;
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_FILTER, "turns");
    if (!method || BIO_meth_set_read(method, on_read) != 1 ||
        BIO_meth_set_ctrl(method, on_control) != 1)
        return NULL;
    return method;
}

static void on_free(void *ssl, void *data, CRYPTO_EX_DATA *turns, int index, long number,
                    void *pointer)
{
    (void)ssl, (void)turns, (void)index, (void)number, (void)pointer;
    struct turn *turn = data;
    if (!turn)
        return;
    lws_dll2_remove(&turn->place);
    free(turn);
}

static int turn_index(void)
{
    static int index = -1;
    if (index < 0)
        index = SSL_get_ex_new_index(0, NULL, NULL, NULL, on_free);
    return index;
}

static void begin(SSL *ssl)
{
    struct turn *turn = calloc(1, sizeof *turn);
    BIO *bio = BIO_new(filter());
    BIO *socket = SSL_get_rbio(ssl);
    if (!turn || !bio || SSL_set_ex_data(ssl, turn_index(), turn) != 1) {
        BIO_free(bio);
        free(turn);
        SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
        return;
    }
    BIO_set_data(bio, turn);
    BIO_set_init(bio, 1);
    BIO_up_ref(socket);
    SSL_set0_rbio(ssl, BIO_push(bio, socket));
}

static void on_info(const SSL *connection, int where, int result)
{
    (void)result;
    SSL *ssl = (SSL *)connection;
    struct turn *turn = SSL_get_ex_data(ssl, turn_index());
    if (where == SSL_CB_HANDSHAKE_START && !turn)
        begin(ssl);
    /* The filter goes after the handshake: nothing else of a connection needs a turn. */
    if (where == SSL_CB_HANDSHAKE_DONE && BIO_method_type(SSL_get_rbio(ssl)) & BIO_TYPE_FILTER)
        SSL_set0_rbio(ssl, BIO_pop(SSL_get_rbio(ssl)));
    if (where == SSL_CB_ACCEPT_EXIT && turn && turn->has_it) {
        turn->has_it = false;
        handshake_budget_spend(turn->turns->budget, handshake_clock() - turn->began);
    }
}

bool tls_turns_serve(SSL_CTX *context)
{
    SSL_CTX_set_info_callback(context, on_info);
    return turn_index() >= 0 && filter();
}

void tls_turns_enter(struct tls_turns *turns, struct lws *wsi, bool is_early)
{
    SSL *ssl = lws_get_ssl(wsi);
    struct turn *turn = ssl ? SSL_get_ex_data(ssl, turn_index()) : NULL;
    if (!turn)
        return;
    turn->turns = turns;
    turn->wsi = wsi;
    turn->is_early = is_early;
}
