#include "native/proxied.h"

#include "base/config_fields.h"
#include "base/hash_index.h"
#include "base/memory.h"

#include <string.h>

/* A server speaks to its clients more often, every 10 seconds at least. */
#define SILENT_SECONDS 30.0

struct prefix {
    struct cw_address address;
    unsigned bits;
};

/* The ranks of players: those of a lower rank give way first. */
enum rank { RANK_UNUSED, RANK_UNPROVEN, RANK_ACCEPTED, RANK_COUNT };

struct place {
    enum rank rank;
    uint32_t before, after; /* the neighbours in the list of the player's rank */
    struct cw_address player;
    struct cw_address source;
    enum cw_proxy_header kind;
    uint8_t header[CW_SIMPLE_HEADER_SIZE]; /* the header of kind SIMPLE */
    double active;                         /* when the player or the server last spoke */
};

/* A list of players, of whom the first has been silent for longest. */
struct list {
    uint32_t first, last;
};

struct cw_proxied {
    struct cw_allocator allocator;
    size_t memory;
    uint64_t seed;
    struct prefix *trusted;
    uint32_t trusted_count;
    struct place *places;
    struct list lists[RANK_COUNT];
    struct cw_hash_index by_player;
    struct cw_hash_index by_source; /* players of kind V2 */
};

#define NOBODY CW_HASH_INDEX_NONE

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    OTHER(trusted_proxies, "must be addresses without a port, or prefixes such as 10.0.0.0/16")
CW_CONFIG_ERRORS(0x1320, FIELDS, cw_proxied_config_errors)

/* Returns whether no bit is set behind a prefix. Such bits tell of a slip. */
static bool is_clear(const uint8_t *bytes, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        if (bytes[i / 8] & 0x80u >> i % 8)
            return false;
    return true;
}

/* Reads "10.0.0.0/8", "2001:db8::/32" or a single address. */
static enum cw_error read_prefix(const char *text, struct prefix *prefix)
{
    char address[CW_ADDRESS_TEXT_SIZE];
    const char *slash = text ? strchr(text, '/') : NULL;
    const size_t length = slash ? (size_t)(slash - text) : text ? strlen(text) : 0;
    if (length == 0 || length >= sizeof address)
        return CW_FIELD_ERROR(trusted_proxies);
    memcpy(address, text, length);
    address[length] = '\0';
    if (cw_address_parse(address, &prefix->address) != CW_OK || prefix->address.port != 0)
        return CW_FIELD_ERROR(trusted_proxies);
    const unsigned most = prefix->address.type == CW_ADDRESS_IPV4 ? 32 : 128;
    prefix->bits = most;
    if (!slash)
        return CW_OK;
    const char *digit = slash + 1;
    prefix->bits = 0;
    do {
        if (*digit < '0' || *digit > '9')
            return CW_FIELD_ERROR(trusted_proxies);
        prefix->bits = prefix->bits * 10 + (unsigned)(*digit++ - '0');
    } while (*digit != '\0' && prefix->bits <= most);
    return prefix->bits <= most && is_clear(prefix->address.bytes, prefix->bits, most)
               ? CW_OK
               : CW_FIELD_ERROR(trusted_proxies);
}

static bool holds(const struct prefix *prefix, const struct cw_address *address)
{
    const unsigned bytes = prefix->bits / 8;
    const unsigned rest = prefix->bits % 8;
    if (prefix->address.type != address->type ||
        memcmp(prefix->address.bytes, address->bytes, bytes) != 0)
        return false;
    return rest == 0 || (prefix->address.bytes[bytes] ^ address->bytes[bytes]) >> (8 - rest) == 0;
}

static bool trusts(const struct cw_proxied *proxied, const struct cw_address *address)
{
    for (uint32_t i = 0; i < proxied->trusted_count; i++)
        if (holds(&proxied->trusted[i], address))
            return true;
    return false;
}

static void list_remove(struct cw_proxied *proxied, uint32_t number)
{
    const struct place *place = &proxied->places[number];
    struct list *list = &proxied->lists[place->rank];
    *(place->before == NOBODY ? &list->first : &proxied->places[place->before].after) =
        place->after;
    *(place->after == NOBODY ? &list->last : &proxied->places[place->after].before) = place->before;
}

static void list_append(struct cw_proxied *proxied, uint32_t number, enum rank rank)
{
    struct place *place = &proxied->places[number];
    struct list *list = &proxied->lists[rank];
    place->rank = rank;
    place->before = list->last;
    place->after = NOBODY;
    *(list->last == NOBODY ? &list->first : &proxied->places[list->last].after) = number;
    list->last = number;
}

static void lay_out(struct cw_proxied *proxied, struct cw_arena *arena, uint32_t places)
{
    proxied->trusted = cw_arena_take(arena, proxied->trusted_count * sizeof *proxied->trusted);
    proxied->places = cw_arena_take(arena, places * sizeof *proxied->places);
    cw_hash_index_layout(&proxied->by_player, arena, places);
    cw_hash_index_layout(&proxied->by_source, arena, places);
}

enum cw_error cw_proxied_create(const struct cw_proxied_config *config, struct cw_proxied **proxied)
{
    struct cw_proxied made = {.allocator = config->allocator,
                              .seed = config->seed,
                              .trusted_count = config->trusted_count};
    struct cw_arena measure = {0};
    (void)cw_arena_take(&measure, sizeof made);
    lay_out(&made, &measure, config->places);
    made.memory = measure.used;
    struct cw_arena arena = cw_arena_create(&config->allocator, made.memory);
    struct cw_proxied *self = cw_arena_take(&arena, sizeof *self);
    if (!self)
        return CW_ERROR_NO_MEMORY;
    *self = made;
    lay_out(self, &arena, config->places);
    for (uint32_t i = 0; i < config->trusted_count; i++) {
        const enum cw_error error = read_prefix(config->trusted[i], &self->trusted[i]);
        if (error != CW_OK) {
            cw_proxied_destroy(self);
            return error;
        }
    }
    for (int rank = 0; rank < RANK_COUNT; rank++)
        self->lists[rank] = (struct list){NOBODY, NOBODY};
    for (uint32_t i = 0; i < config->places; i++)
        list_append(self, i, RANK_UNUSED);
    *proxied = self;
    return CW_OK;
}

void cw_proxied_destroy(struct cw_proxied *proxied)
{
    if (!proxied)
        return;
    const struct cw_allocator allocator = proxied->allocator;
    cw_release(&allocator, proxied, proxied->memory);
}

static uint64_t hash_of(const struct cw_proxied *proxied, const struct cw_address *address)
{
    return cw_hash_index_hash_address(proxied->seed, address);
}

static uint32_t find_player(const struct cw_proxied *proxied, const struct cw_address *player)
{
    uint32_t probe = 0, number;
    const uint64_t hash = hash_of(proxied, player);
    while ((number = cw_hash_index_find(&proxied->by_player, hash, &probe)) != NOBODY)
        if (cw_address_equal(&proxied->places[number].player, player))
            break;
    return number;
}

static uint32_t find_source(const struct cw_proxied *proxied, const struct cw_address *source)
{
    uint32_t probe = 0, number;
    const uint64_t hash = hash_of(proxied, source);
    while ((number = cw_hash_index_find(&proxied->by_source, hash, &probe)) != NOBODY)
        if (cw_address_equal(&proxied->places[number].source, source))
            break;
    return number;
}

static void forget_source(struct cw_proxied *proxied, uint32_t number)
{
    struct place *place = &proxied->places[number];
    if (place->kind == CW_PROXY_HEADER_V2)
        cw_hash_index_remove(&proxied->by_source, hash_of(proxied, &place->source), number);
    place->kind = CW_PROXY_HEADER_NONE;
}

static void forget(struct cw_proxied *proxied, uint32_t number)
{
    struct place *place = &proxied->places[number];
    if (place->rank == RANK_UNUSED)
        return;
    forget_source(proxied, number);
    cw_hash_index_remove(&proxied->by_player, hash_of(proxied, &place->player), number);
    list_remove(proxied, number);
    list_append(proxied, number, RANK_UNUSED);
}

/* Returns a place for a player who has none; NOBODY when all others are worth more. */
static uint32_t take_place(struct cw_proxied *proxied, const struct cw_address *player,
                           enum rank rank, double now)
{
    uint32_t number = NOBODY;
    for (int from = RANK_UNUSED; number == NOBODY && from < RANK_COUNT; from++)
        number = proxied->lists[from].first;
    struct place *place = &proxied->places[number];
    if (place->rank > rank && now - place->active < SILENT_SECONDS)
        return NOBODY;
    forget(proxied, number);
    place->player = *player;
    cw_hash_index_add(&proxied->by_player, hash_of(proxied, player), number);
    return number;
}

static void point_to_source(struct cw_proxied *proxied, uint32_t number,
                            const struct cw_proxied_packet *packet)
{
    struct place *place = &proxied->places[number];
    if (packet->kind == CW_PROXY_HEADER_V2 && place->kind == CW_PROXY_HEADER_V2 &&
        cw_address_equal(&packet->source, &place->source))
        return;
    forget_source(proxied, number);
    if (packet->kind == CW_PROXY_HEADER_V2) {
        const uint32_t other = find_source(proxied, &packet->source);
        if (other != NOBODY)
            forget(proxied, other);
        cw_hash_index_add(&proxied->by_source, hash_of(proxied, &packet->source), number);
    } else {
        memcpy(place->header, packet->header, sizeof place->header);
    }
    place->kind = packet->kind;
    place->source = packet->source;
}

static void renew(struct cw_proxied *proxied, uint32_t number, enum rank rank, double now)
{
    proxied->places[number].active = now;
    list_remove(proxied, number);
    list_append(proxied, number, rank);
}

static void remember(struct cw_proxied *proxied, const struct cw_proxied_packet *packet,
                     enum rank rank, double now)
{
    uint32_t number = find_player(proxied, &packet->player);
    if (number == NOBODY)
        number = take_place(proxied, &packet->player, rank, now);
    if (number == NOBODY || proxied->places[number].rank > rank)
        return;
    point_to_source(proxied, number, packet);
    renew(proxied, number, rank, now);
}

void cw_proxied_receive(struct cw_proxied *proxied, const struct cw_socket_datagram *datagram,
                        double now, struct cw_proxied_packet *packet)
{
    *packet = (struct cw_proxied_packet){.player = datagram->address,
                                         .data = datagram->data,
                                         .size = datagram->size,
                                         .source = datagram->address,
                                         .header = datagram->data};
    if (!trusts(proxied, &datagram->address))
        return;
    size_t header_size = 0;
    const enum cw_proxy_header kind =
        cw_proxy_header_read(datagram->data, datagram->size, &packet->player, &header_size);
    const uint32_t known =
        kind == CW_PROXY_HEADER_SIMPLE ? NOBODY : find_source(proxied, &packet->source);
    packet->data += header_size;
    packet->size -= header_size;
    if (kind == CW_PROXY_HEADER_NONE && known != NOBODY) {
        packet->player = proxied->places[known].player;
        packet->kind = CW_PROXY_HEADER_V2;
    } else if (kind == CW_PROXY_HEADER_LOCAL && known != NOBODY) {
        forget(proxied, known);
    } else if (kind == CW_PROXY_HEADER_SIMPLE || kind == CW_PROXY_HEADER_V2) {
        packet->kind = kind;
        remember(proxied, packet, RANK_UNPROVEN, now);
    }
}

void cw_proxied_accept(struct cw_proxied *proxied, const struct cw_proxied_packet *packet,
                       double now)
{
    if (packet->kind != CW_PROXY_HEADER_NONE) {
        remember(proxied, packet, RANK_ACCEPTED, now);
        return;
    }
    /* The datagram came straight from an address that a proxy has given for a player of its own. */
    const uint32_t number = find_player(proxied, &packet->player);
    if (number != NOBODY)
        forget(proxied, number);
}

void cw_proxied_readdress(struct cw_proxied *proxied, struct cw_socket_datagram *datagram,
                          double now)
{
    const uint32_t number = find_player(proxied, &datagram->address);
    if (number == NOBODY)
        return;
    const struct place *place = &proxied->places[number];
    datagram->address = place->source;
    if (place->kind == CW_PROXY_HEADER_SIMPLE) {
        datagram->data -= sizeof place->header;
        datagram->size += sizeof place->header;
        memcpy(datagram->data, place->header, sizeof place->header);
    }
    if (place->rank == RANK_ACCEPTED)
        renew(proxied, number, RANK_ACCEPTED, now);
}
