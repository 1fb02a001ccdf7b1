#include "webtransport/webtransport_internal.h"

#include "http/form.h"
#include "rtc/rtc_socket.h"
#include "session/server.h"
#include "session/session_key.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include <time.h>

/* A page's pass is this many bytes, in hexadecimal digits. */
#define PASS_BYTES 16
#define PASS_SIZE  (2 * PASS_BYTES)

/* Makes the pass of a page: the relay has found, over HTTP, that pages of its origin are allowed.
   The request over HTTP/3 comes to an address and a port that the page need not have been loaded
   from, so that could not be found from it alone. */
static void make_pass(const struct webtransport *webtransport, const char *origin,
                      char out[PASS_SIZE + 1])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t hash[EVP_MAX_MD_SIZE] = {0};
    unsigned size = sizeof hash;
    HMAC(EVP_sha256(), webtransport->secret, QUIC_SECRET_SIZE, (const unsigned char *)origin,
         strlen(origin), hash, &size);
    for (int i = 0; i < PASS_BYTES; i++) {
        out[2 * i] = digits[hash[i] >> 4];
        out[2 * i + 1] = digits[hash[i] & 15];
    }
    out[PASS_SIZE] = '\0';
}

/* Adds the address to which the page of a request is to connect: ":PORT" for the host that it
   knows, or an advertised one, of its own family if there is one. A certificate of an authority
   names the host. */
static void add_address(const struct webtransport *webtransport, const struct http_request *request,
                        struct text *out)
{
    const struct webtransport_config *config = &webtransport->config;
    const struct socket_address *found = config->advertised;
    char text[SOCKET_ADDRESS_TEXT];
    for (unsigned i = 0; i < config->advertised_count; i++)
        if (config->advertised[i].address.any.sa_family == request->client.address.any.sa_family)
            found = &config->advertised[i];
    if (config->advertised_count == 0 || config->certificate) {
        text_add(out, ":%u", webrtc_port(config->webrtc));
        return;
    }
    struct socket_address whole = *found;
    if (socket_address_port(&whole) == 0)
        socket_address_set_port(&whole, webrtc_port(config->webrtc));
    socket_address_format(&whole, text);
    text_add(out, "%s", text);
}

static bool tell(void *context, const struct http_request *request, struct http_response *response)
{
    struct webtransport *webtransport = context;
    uint8_t hashes[CERTIFICATE_HASHES][CERTIFICATE_HASH_SIZE];
    char pass[PASS_SIZE + 1];
    const size_t count =
        certificates_hashes(webtransport->certificates, (int64_t)time(NULL), hashes);
    make_pass(webtransport, request->origin, pass);
    text_add(&response->body, "{\"address\":\"");
    add_address(webtransport, request, &response->body);
    text_add(&response->body, "\",\"path\":\"" WEBTRANSPORT_ROUTE "?pass=%s\",\"hashes\":[", pass);
    for (size_t i = 0; i < count; i++) {
        text_add(&response->body, i > 0 ? ",\"" : "\"");
        for (size_t k = 0; k < CERTIFICATE_HASH_SIZE; k++)
            text_add(&response->body, "%02x", hashes[i][k]);
        text_add(&response->body, "\"");
    }
    text_add(&response->body, "]}\n");
    response->type = "application/json";
    return true;
}

/* The request is a POST, because browsers tell the origin of a page with each of these, but not
   with a GET to the page's own host. */
void webtransport_add_route(struct webtransport *webtransport, struct http *http)
{
    const struct http_route route = {.path = WEBTRANSPORT_ROUTE,
                                     .methods = HTTP_POST,
                                     .access = HTTP_PAGES,
                                     .handle = tell,
                                     .context = webtransport};
    http_add_route(http, &route);
}

/* Reads what the page wants from the query of its path. Returns the status of the answer. */
static unsigned read_wishes(const struct webtransport *webtransport,
                            const struct http3_request *request, struct link_request *wanted)
{
    const size_t route = strlen(WEBTRANSPORT_ROUTE);
    char pass[PASS_SIZE + 1];
    char right[PASS_SIZE + 1];
    char key[SESSION_KEY_SIZE + 1];
    char server[SESSION_SERVER_TEXT + 1];
    if (!http3_is_webtransport(request))
        return 400;
    if (strncmp(request->path, WEBTRANSPORT_ROUTE "?", route + 1) != 0)
        return 404;
    const char *query = request->path + route + 1;
    if (!form_value(query, "pass", pass, sizeof pass) ||
        !form_value(query, "session", key, sizeof key) ||
        !form_value(query, "server", server, sizeof server) ||
        (key[0] && !session_key_valid(key, strlen(key))) ||
        (server[0] && !session_server_read(server, strlen(server), &wanted->server)))
        return 400;
    make_pass(webtransport, request->origin, right);
    if (strlen(pass) != PASS_SIZE || CRYPTO_memcmp(pass, right, PASS_SIZE) != 0 ||
        !origin_remains(webtransport->config.origins, request->origin))
        return 403;
    session_identify(webtransport->sessions, key, request->origin, wanted);
    return 200;
}

static void refuse(struct wt_link *link, unsigned status)
{
    uint8_t answer[HTTP3_ANSWER_MAX];
    const size_t size = http3_write_answer(answer, status);
    link->webtransport->stats->webtransport_requests_refused++;
    quic_reply(link->quic, link->stream, answer, size, true);
    link->state = WT_CLOSING;
}

void webtransport_answer(struct wt_link *link, const struct http3_request *request)
{
    struct webtransport *webtransport = link->webtransport;
    uint8_t answer[HTTP3_ANSWER_MAX];
    struct link_request wanted = {0};
    struct udp_path path;
    const unsigned status = read_wishes(webtransport, request, &wanted);
    webtransport_leave_waiting(link);
    if (status != 200) {
        refuse(link, status);
        return;
    }
    quic_path(link->quic, &path);
    rtc_socket_socket_address(&path.remote, &wanted.client);
    webtransport->stats->webtransport_requests++;
    const size_t size = http3_write_answer(answer, status);
    quic_reply(link->quic, link->stream, answer, size, false);
    link->state = WT_OPEN;
    const enum session_refusal why =
        session_link_open(webtransport->sessions, &link->base, &webtransport_transport, &wanted);
    if (why != SESSION_REFUSED_NOT)
        webtransport_dismiss(link, session_refusal_farewell(why));
}
