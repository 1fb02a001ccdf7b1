#include "causeway/message.h"
#include "message/message_pool.h"

#include "base/config_fields.h"
#include "base/memory.h"
#include "message/message_owner.h"
#include "message/schema_unchecked.h"

struct cw_message_pool {
    struct cw_allocator allocator;
    size_t memory;
    const struct cw_schema *schema;
    struct cw_message *free;
    uint32_t capacity;
    uint32_t used;
    uint32_t borrowed; /* messages that hold a block of another pool's message */
};

struct cw_message_pool_config cw_message_pool_config_default(void)
{
    return (struct cw_message_pool_config){.capacity = 1024};
}

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    OTHER(schema, "must not be NULL")                                                              \
    RANGE(__VA_ARGS__, UINT, capacity, 1, 65536)
CW_CONFIG_FIELDS(cw_message_pool_config, 0x1140, FIELDS, cw_message_pool_config_errors)

static enum cw_error check_config(const struct cw_message_pool_config *config)
{
    if (!config)
        return CW_ERROR_INVALID_ARGUMENT;
    return config->schema ? CW_CHECK_FIELDS(config) : CW_FIELD_ERROR(schema);
}

/* Lays out a pool. It runs twice: with a NULL arena base it measures only. */
static struct cw_message_pool *lay_out(struct cw_arena *arena,
                                       const struct cw_message_pool_config *config)
{
    const size_t size = cw_schema_message_size(config->schema);
    struct cw_message_pool *const pool = cw_arena_take(arena, sizeof *pool);
    struct cw_message *const messages =
        cw_arena_take(arena, config->capacity * sizeof(struct cw_message));
    if (pool)
        *pool = (struct cw_message_pool){
            .allocator = config->allocator,
            .memory = arena->size,
            .schema = config->schema,
            .capacity = config->capacity,
        };
    for (uint32_t i = config->capacity; i-- > 0;) {
        void *const data = cw_arena_take(arena, size);
        if (pool) {
            messages[i] = (struct cw_message){.data = data, .pool = pool, .next = pool->free};
            pool->free = &messages[i];
        }
    }
    return pool;
}

enum cw_error cw_message_pool_create(const struct cw_message_pool_config *config,
                                     struct cw_message_pool **pool)
{
    if (!pool)
        return CW_ERROR_INVALID_ARGUMENT;
    const enum cw_error error = check_config(config);
    if (error != CW_OK)
        return error;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_message_pool_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    *pool = lay_out(&arena, config);
    return CW_OK;
}

void cw_message_pool_destroy(struct cw_message_pool *pool)
{
    if (!pool)
        return;
    assert(pool->used == 0);
    const struct cw_allocator allocator = pool->allocator;
    cw_release(&allocator, pool, pool->memory);
}

size_t cw_message_pool_memory(const struct cw_message_pool_config *config)
{
    if (check_config(config) != CW_OK)
        return 0;
    struct cw_arena arena = {NULL, 0, 0};
    lay_out(&arena, config);
    return arena.used;
}

uint32_t cw_message_pool_used(const struct cw_message_pool *pool)
{
    return pool ? pool->used : 0;
}

uint32_t cw_message_pool_unused(const struct cw_message_pool *pool)
{
    return pool->capacity - pool->used;
}

uint32_t cw_message_pool_borrowed(const struct cw_message_pool *pool)
{
    return pool->borrowed;
}

/* Takes a message whose struct has yet to be filled in; NULL when all are in use. */
CW_INLINE struct cw_message *take(struct cw_message_pool *pool, uint32_t type)
{
    struct cw_message *const message = pool->free;
    if (!message)
        return NULL;
    pool->free = message->next;
    ++pool->used;
    /* A free message has no block: the release of its last reference has cleared that. */
    message->type = type;
    message->id = 0;
    message->owned = false;
    message->references = 1;
    message->receipt = 0;
    message->broadcast = 0;
    message->next = NULL;
    return message;
}

enum cw_error cw_message_create(struct cw_message_pool *pool, uint32_t type,
                                struct cw_message **out)
{
    if (!pool || !out)
        return CW_ERROR_INVALID_ARGUMENT;
    if (!cw_schema_type(pool->schema, type))
        return CW_ERROR_MESSAGE_TYPE;
    const enum cw_error error = cw_message_create_owned(pool, type, out);
    if (error == CW_OK)
        (*out)->owned = false;
    return error;
}

static void release_original(void *original, uint8_t *block, size_t size)
{
    (void)block;
    (void)size;
    (void)cw_message_release(original);
}

enum cw_error cw_message_create_copy(struct cw_message_pool *pool, struct cw_message *of,
                                     struct cw_message **out)
{
    struct cw_message *const copy = take(pool, of->type);
    if (!copy)
        return CW_ERROR_POOL_EMPTY;
    memcpy(copy->data, of->data, cw_schema_type_unchecked(pool->schema, of->type)->size);
    copy->receipt = of->receipt;
    if (of->block) {
        ++of->references;
        ++pool->borrowed;
        cw_message_attach_owned(copy, of->block, of->block_size, release_original, of);
    }
    *out = copy;
    return CW_OK;
}

enum cw_error cw_message_create_owned(struct cw_message_pool *pool, uint32_t type,
                                      struct cw_message **out)
{
    struct cw_message *const message = take(pool, type);
    if (!message)
        return CW_ERROR_POOL_EMPTY;
    memset(message->data, 0, cw_schema_type_unchecked(pool->schema, type)->size);
    message->owned = true;
    *out = message;
    return CW_OK;
}

/* Returns whether a reference is the application's. A released message can be asked too: the pool
   still has it. */
static bool is_owned(const struct cw_message *message)
{
    return message->references > message->owned;
}

enum cw_error cw_message_copy(const struct cw_message *from, struct cw_message *to)
{
    if (!from || !to)
        return CW_ERROR_INVALID_ARGUMENT;
    if (!is_owned(from) || !is_owned(to) || to->owned)
        return CW_ERROR_MESSAGE_NOT_OWNED;
    if (from->pool->schema != to->pool->schema || from->type != to->type)
        return CW_ERROR_MESSAGE_TYPE;
    memmove(to->data, from->data, cw_schema_type_unchecked(to->pool->schema, to->type)->size);
    return CW_OK;
}

enum cw_error cw_message_acquire(struct cw_message *message)
{
    if (!message)
        return CW_ERROR_INVALID_ARGUMENT;
    if (!is_owned(message))
        return CW_ERROR_MESSAGE_NOT_OWNED;
    ++message->references;
    return CW_OK;
}

static void let_block_go(struct cw_message *message)
{
    if (CW_LIKELY(!message->block))
        return;
    if (message->release_block) {
        message->pool->borrowed -= message->release_block == release_original;
        message->release_block(message->release_context, message->block, message->block_size);
    }
    message->block = NULL;
    message->block_size = 0;
    message->release_block = NULL;
}

static void one_reference_less(struct cw_message *message)
{
    if (--message->references > 0)
        return;
    let_block_go(message);
    message->next = message->pool->free;
    message->pool->free = message;
    --message->pool->used;
}

enum cw_error cw_message_release(struct cw_message *message)
{
    if (!message)
        return CW_OK;
    if (!is_owned(message))
        return CW_ERROR_MESSAGE_NOT_OWNED;
    one_reference_less(message);
    return CW_OK;
}

void cw_message_drop(struct cw_message *message)
{
    if (!message)
        return;
    message->owned = false;
    one_reference_less(message);
}

enum cw_error cw_message_attach(struct cw_message *message, uint8_t *block, uint32_t size,
                                void (*release)(void *context, uint8_t *block, size_t size),
                                void *context)
{
    if (!message || (!block && size > 0))
        return CW_ERROR_INVALID_ARGUMENT;
    if (!is_owned(message) || message->owned)
        return CW_ERROR_MESSAGE_NOT_OWNED;
    cw_message_attach_owned(message, block, size, release, context);
    return CW_OK;
}

void cw_message_attach_owned(struct cw_message *message, uint8_t *block, uint32_t size,
                             void (*release)(void *context, uint8_t *block, size_t size),
                             void *context)
{
    let_block_go(message);
    message->block = block;
    message->block_size = size;
    message->release_block = release;
    message->release_context = context;
}

bool cw_message_serialize(struct cw_stream *stream, struct cw_message *message)
{
    return stream && message &&
           cw_schema_serialize_unchecked(message->pool->schema, message->type, stream,
                                         message->data);
}

bool cw_message_measure(struct cw_message *message, size_t *bits)
{
    struct cw_stream stream = cw_stream_measurer();
    if (!bits)
        return false;
    const bool done = cw_message_serialize(&stream, message);
    if (done)
        *bits = cw_stream_position(&stream);
    return done;
}

uint32_t cw_message_check(const struct cw_message *message)
{
    return !message ? 0 : cw_schema_check(message->pool->schema, message->type, message->data);
}
