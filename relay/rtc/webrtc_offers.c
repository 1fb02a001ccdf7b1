#include "rtc/ticket.h"
#include "rtc/webrtc_internal.h"

#include <arpa/inet.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* The path to which offers are posted. */
#define ROUTE "/rtc"
/* The path at which a backend asks for the ticket of a page. */
#define TICKET_ROUTE ROUTE "/ticket"

/* Bytes of the longest answer. */
#define ANSWER_MAX 4096

/* The characters of a random ufrag or password. */
#define NAME_SIZE 24

/* Writes random bytes as text: letters, digits, + and /, as ICE wants it. */
static bool random_text(char *out, size_t size)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t bytes[32];
    if (size > sizeof bytes || RAND_bytes(bytes, (int)size) != 1)
        return false;
    for (size_t i = 0; i < size; i++)
        out[i] = letters[bytes[i] % 64];
    out[size] = '\0';
    return true;
}

/* The names of the relay's end of a link, as an answer has them. */
struct link_names {
    char ufrag[SDP_UFRAG_MAX + 1];
    char password[PEER_PASSWORD_SIZE];
    char ticket[TICKET_TEXT_SIZE]; /* "" = none; otherwise the password is that of the ticket */
};

static void add_candidate(const struct webrtc *webrtc, const struct socket_address *socket_address,
                          struct sdp_answer *answer)
{
    struct udp_address address;
    char *text = answer->candidates[answer->candidate_count].ip;
    const size_t room = sizeof answer->candidates[0].ip;
    rtc_socket_address(socket_address, &address);
    const bool v4 = udp_address_is_v4(&address);
    if (!inet_ntop(v4 ? AF_INET : AF_INET6, address.ip + (v4 ? 12 : 0), text, (socklen_t)room))
        return;
    answer->candidates[answer->candidate_count++].port = address.port ? address.port : webrtc->port;
}

static void write_answer(struct webrtc *webrtc, const struct http_request *request,
                         const struct sdp_offer *offer, const struct link_names *names,
                         struct http_response *response)
{
    struct sdp_answer answer = {
        .ufrag = names->ufrag,
        .password = names->password,
        .ticket = names->ticket[0] ? names->ticket : NULL,
        .fingerprint = dtls_identity_fingerprint(webrtc->common.identity),
        .mid = offer->mid,
        .bundle = offer->bundle,
        .sctp_port = PEER_SCTP_PORT,
        .max_message_size = SESSION_DATAGRAM_MAX,
        .sctp_init = offer->sctp_init.tag != 0,
    };
    RAND_bytes((unsigned char *)&answer.session, sizeof answer.session);
    for (unsigned i = 0; i < webrtc->config.advertised_count; i++)
        add_candidate(webrtc, &webrtc->config.advertised[i], &answer);
    if (answer.candidate_count == 0) {
        struct socket_address local = request->local;
        socket_address_set_port(&local, 0);
        add_candidate(webrtc, &local, &answer);
    }
    char text[ANSWER_MAX];
    const size_t size = sdp_write_answer(text, sizeof text, &answer);
    text_add(&response->body, "%.*s", (int)size, text);
    response->type = "application/sdp";
    response->status = HTTP_CREATED;
}

/* Makes a ticket and its password; none for an origin that is too long. */
static bool add_ticket(const struct webrtc *webrtc, const struct http_request *request,
                       struct link_names *names)
{
    struct ticket ticket = {.expires = (uint32_t)time(NULL) + TICKET_SECONDS,
                            .origin = request->origin};
    rtc_socket_address(&request->client, &ticket.client);
    if (RAND_bytes(ticket.number, sizeof ticket.number) != 1)
        return false;
    ticket_write(&ticket, dtls_identity_secret(webrtc->common.identity), names->ticket,
                 names->password);
    return true;
}

/* Makes the names for a link that has its place, and its name for DELETE. */
static bool name_link(struct rtc_link *link, const struct http_request *request,
                      struct link_names *names)
{
    uint8_t secret[WEBRTC_NAME_BYTES];
    rtc_place_write(link->entry.place, names->ufrag);
    strcpy(link->name, names->ufrag);
    if (!random_text(names->ufrag + RTC_PLACE_DIGITS, NAME_SIZE - RTC_PLACE_DIGITS) ||
        !random_text(names->password, NAME_SIZE) || RAND_bytes(secret, sizeof secret) != 1 ||
        !add_ticket(link->webrtc, request, names))
        return false;
    for (int i = 0; i < WEBRTC_NAME_BYTES; i++)
        snprintf(link->name + RTC_PLACE_DIGITS + i * 2, 3, "%02x", secret[i]);
    return true;
}

static void begin(struct rtc_link *link, const struct link_request *wanted)
{
    struct webrtc *webrtc = link->webrtc;
    link->request = *wanted;
    webrtc->stats->rtc_offers++;
    webrtc_set_deadline(link);
    webrtc_make_room(webrtc);
}

/* Creates the link for an offer that came in a request, and its names; with NULL for one in a
   claim, which has its names. Returns NULL when there are too many links. */
static struct rtc_link *rtc_link_create(struct webrtc *webrtc, const struct link_request *wanted,
                                        const struct sdp_offer *offer,
                                        const struct http_request *request,
                                        struct link_names *names)
{
    struct rtc_link *link = calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->webrtc = webrtc;
    policing_init(&link->policing);
    if (half_open_enter(webrtc->half_open, &link->half_open, &wanted->client)) {
        if (rtc_table_add(webrtc->table, &link->entry)) {
            if (!request || name_link(link, request, names))
                link->peer =
                    peer_create(&webrtc->common, offer, names->ufrag, names->password, loop_now());
            if (link->peer) {
                begin(link, wanted);
                return link;
            }
            rtc_table_remove(webrtc->table, &link->entry);
        }
        half_open_leave(webrtc->half_open, &link->half_open);
    }
    free(link);
    webrtc->stats->rtc_offers_full++;
    return NULL;
}

/* Returns whether a Content-Type names this type; parameters such as a charset may follow. */
static bool is_type(const char *content_type, const char *type)
{
    const size_t size = strlen(type);
    return strncasecmp(content_type, type, size) == 0 &&
           (content_type[size] == '\0' || strchr("; \t", content_type[size]) != NULL);
}

/* Adds the path at which the page finds its connection: with several workers it also names the one
   that has it. */
static void add_location(const struct rtc_link *link, struct http_response *response)
{
    const unsigned worker = link->webrtc->config.worker;
    if (worker > 0)
        text_add(&response->head, "location: " ROUTE "/%u/%s\r\n", worker, link->name);
    else
        text_add(&response->head, "location: " ROUTE "/%s\r\n", link->name);
}

/* Takes an offer, as application/sdp or as text/plain. Before it POSTs the former to another
   origin, a browser asks whether it may, which costs two round trips; the latter it just POSTs. */
static void answer_offer(struct webrtc *webrtc, const struct http_request *request,
                         struct http_response *response)
{
    struct sdp_offer offer;
    unsigned retry_after;
    if (!is_type(request->content_type, "application/sdp") &&
        !is_type(request->content_type, "text/plain")) {
        response_say(response, HTTP_UNSUPPORTED_MEDIA_TYPE,
                     "The offer must be application/sdp or text/plain.");
        return;
    }
    struct link_request wanted = {.client = request->client};
    enum sdp_error error = sdp_read_offer(&offer, request->body, request->size);
    if (error == SDP_OK && offer.server[0] &&
        !session_server_read(offer.server, strlen(offer.server), &wanted.server))
        error = SDP_SERVER;
    if (error != SDP_OK) {
        webrtc->stats->rtc_offers_refused++;
        response_say(response, HTTP_BAD_REQUEST, sdp_error_string(error));
        return;
    }
    if (!offer_limit_pass(webrtc->offers, &request->client, loop_now(), &retry_after)) {
        webrtc->stats->rtc_offers_limited++;
        response_say(response, HTTP_TOO_MANY_REQUESTS,
                     "Too many offers have come: try later, or by WebSocket.");
        text_add(&response->head, "retry-after: %u\r\n", retry_after);
        return;
    }
    session_identify(webrtc->sessions, offer.session_key, request->origin, &wanted);
    if (!session_server_allowed(webrtc->sessions, &wanted)) {
        /* 403 would mean a foreign origin. */
        response_say(response, HTTP_UNPROCESSABLE_CONTENT,
                     session_refusal_farewell(SESSION_REFUSED_SERVER)->text);
        return;
    }
    struct link_names names = {0};
    struct rtc_link *link = rtc_link_create(webrtc, &wanted, &offer, request, &names);
    if (!link) {
        response_say(response, HTTP_SERVICE_UNAVAILABLE, "Too many offers are waiting: try later.");
        return;
    }
    write_answer(webrtc, request, &offer, &names, response);
    add_location(link, response);
}

/* Does with a claim that has been proven what answer_offer does with an offer. A claim counts for
   the client that got the ticket, since the sender of its check may be forged. A page whose claim
   is not taken gets no answer; it then POSTs its offer, and is told why. */
static struct rtc_link *accept_claim(struct webrtc *webrtc, struct ticket_claim *claim)
{
    struct sdp_offer offer = {.sctp_port = PEER_SCTP_PORT, .sctp_init = claim->sctp_init};
    struct link_request wanted = {0};
    struct link_names names = {0};
    unsigned retry_after;
    rtc_socket_socket_address(&claim->client, &wanted.client);
    if (!origin_remains(webrtc->config.origins, claim->origin) ||
        (claim->server[0] &&
         !session_server_read(claim->server, strlen(claim->server), &wanted.server)))
        return NULL;
    if (!offer_limit_pass(webrtc->offers, &wanted.client, loop_now(), &retry_after)) {
        webrtc->stats->rtc_offers_limited++;
        return NULL;
    }
    session_identify(webrtc->sessions, claim->session_key, claim->origin, &wanted);
    if (!session_server_allowed(webrtc->sessions, &wanted))
        return NULL;
    memcpy(offer.ufrag, claim->remote_ufrag, sizeof offer.ufrag);
    memcpy(offer.fingerprint, claim->fingerprint, sizeof offer.fingerprint);
    memcpy(names.ufrag, claim->ufrag, sizeof names.ufrag);
    memcpy(names.password, claim->password, sizeof names.password);
    struct rtc_link *link = rtc_link_create(webrtc, &wanted, &offer, NULL, &names);
    if (link)
        rtc_table_list(webrtc->table, &link->claimed, &link->entry, &claim->name);
    return link;
}

struct rtc_link *webrtc_claim(struct webrtc *webrtc, const struct stun_request *request,
                              const uint8_t *data)
{
    struct ticket_claim claim;
    if (!ticket_read(&claim, request->username, request->username_size))
        return NULL;
    struct rtc_link *link = webrtc_link_of(rtc_table_from(webrtc->table, &claim.name));
    if (!link &&
        ticket_verify(&claim, dtls_identity_secret(webrtc->common.identity),
                      (uint32_t)time(NULL)) &&
        stun_verify(request, data, claim.password))
        link = accept_claim(webrtc, &claim);
    return link;
}

bool webrtc_end(struct webrtc *webrtc, const char *name)
{
    if (!webrtc)
        return false;
    struct rtc_link *link = webrtc_link_of(rtc_table_named(webrtc->table, name, strlen(name)));
    if (!link || link->ended || strlen(name) != strlen(link->name) ||
        CRYPTO_memcmp(name, link->name, strlen(name)) != 0)
        return false;
    link->deleted = true;
    peer_end(link->peer, "deleted", loop_now());
    webrtc_follow(link);
    return true;
}

static bool take_offer(void *context, const struct http_request *request,
                       struct http_response *response)
{
    answer_offer(context, request, response);
    return true;
}

/* Answers a backend with what a page would get as the answer to its offer, but without a link: the
   page uses its ticket. */
static bool give_ticket(void *context, const struct http_request *request,
                        struct http_response *response)
{
    struct webrtc *webrtc = context;
    const struct sdp_offer offer = {.mid = "0", .bundle = true, .sctp_init = {.tag = 1}};
    struct link_names names = {.ufrag = "none"};
    if (add_ticket(webrtc, request, &names) && names.ticket[0])
        write_answer(webrtc, request, &offer, &names, response);
    else
        response_say(response, HTTP_UNPROCESSABLE_CONTENT,
                     "There is no ticket for pages of an origin with more than 64 characters.");
    return true;
}

/* Takes a DELETE. The system has chosen the worker to which the request came, so it may be for
   another. */
static bool take_delete(void *context, const struct http_request *request,
                        struct http_response *response)
{
    struct webrtc *webrtc = context;
    const char *name = request->rest;
    char *slash;
    const unsigned long worker = strtoul(name, &slash, 10);
    if (webrtc->config.worker > 0 && *slash == '/') {
        name = slash + 1;
        if (worker != webrtc->config.worker) {
            webrtc->config.end_other(webrtc->config.context, (unsigned)worker, name);
            response_say(response, HTTP_ACCEPTED,
                         "The connection is being closed, if there is one.");
            return true;
        }
    }
    if (webrtc_end(webrtc, name))
        response_say(response, HTTP_OK, "The connection is closed.");
    else
        response_say(response, HTTP_NOT_FOUND, "There is no such connection, or no longer.");
    return true;
}

void webrtc_add_routes(struct webrtc *webrtc, struct http *http)
{
    const struct http_route offers = {.path = ROUTE,
                                      .methods = HTTP_POST,
                                      .access = HTTP_PAGES,
                                      .body_max = SDP_OFFER_MAX + 1,
                                      .handle = take_offer,
                                      .context = webrtc};
    const struct http_route tickets = {.path = TICKET_ROUTE,
                                       .methods = HTTP_POST,
                                       .access = HTTP_PAGES,
                                       .handle = give_ticket,
                                       .context = webrtc};
    const struct http_route links = {.path = ROUTE "/",
                                     .methods = HTTP_DELETE,
                                     .access = HTTP_PAGES,
                                     .handle = take_delete,
                                     .context = webrtc};
    http_add_route(http, &offers);
    http_add_route(http, &tickets);
    http_add_route(http, &links);
}
