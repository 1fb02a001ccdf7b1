#include "admin/block_list.h"

#include "http/fetch.h"
#include "os/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block_list {
    struct block_list_config config;
    struct lws_vhost *vhost;
    struct fetch *fetch; /* NULL between two requests */
    struct loop_timer timer;
    struct log_limit limit;
    bool failed; /* the last request had no good answer */
    struct prefix prefixes[BLOCKS_MAX];
    unsigned count;
};

static void fail(struct block_list *list, const char *why)
{
    unsigned suppressed;
    list->failed = true;
    if (!list->config.stats)
        return;
    list->config.stats->block_lists_failed++;
    if (log_limit_pass(&list->limit, loop_now(), &suppressed))
        log_warn("the blocks stay as they are, because --blocks-from cannot be used: %s%s", why,
                 log_suppressed(suppressed).text);
}

/* Reads the lines of a list, of which each has a prefix, a comment, both or nothing. Returns the
   number of the first line that is wrong, or 0. */
static unsigned parse(struct block_list *list, const char *text)
{
    list->count = 0;
    for (unsigned line = 1; *text; line++) {
        char prefix[PREFIX_TEXT];
        const size_t size = strcspn(text, "\n");
        const char *word = text + strspn(text, " \t\r");
        const size_t length = strcspn(word, " \t\r\n#");
        const char *rest = word + length + strspn(word + length, " \t\r");
        if ((*rest && *rest != '\n' && *rest != '#') || length >= sizeof prefix ||
            (length > 0 && list->count == BLOCKS_MAX))
            return line;
        snprintf(prefix, sizeof prefix, "%.*s", (int)length, word);
        if (length > 0 && !prefix_parse(prefix, &list->prefixes[list->count++]))
            return line;
        text += size + (text[size] == '\n');
    }
    return 0;
}

static bool is_listed(const struct block_list *list, const struct prefix *prefix)
{
    for (unsigned i = 0; i < list->count; i++) {
        if (memcmp(&list->prefixes[i], prefix, sizeof *prefix) == 0)
            return true;
    }
    return false;
}

/* Returns whether a prefix is blocked because it was listed before. */
static bool was_listed(const struct blocks *blocks, const struct prefix *prefix)
{
    for (unsigned i = 0; i < blocks->count; i++) {
        const struct block *block = &blocks->list[i];
        if (isinf(block->until) && memcmp(&block->prefix, prefix, sizeof *prefix) == 0)
            return true;
    }
    return false;
}

/* Makes the blocks those of the list, and leaves alone those of the operator. */
static void apply(struct block_list *list)
{
    const struct block_list_config *config = &list->config;
    unsigned added = 0;
    unsigned removed = 0;
    bool fits = true;
    for (unsigned i = config->blocks->count; i-- > 0;) { /* a removed block leaves its place to the
                                                            last one */
        const struct command unblock = {.kind = COMMAND_UNBLOCK, .block = config->blocks->list[i]};
        if (isinf(unblock.block.until) && !is_listed(list, &unblock.block.prefix))
            removed += config->carry_out(config->context, &unblock);
    }
    for (unsigned i = 0; i < list->count && fits; i++) {
        const struct command block = {.kind = COMMAND_BLOCK,
                                      .block = {list->prefixes[i], INFINITY}};
        if (was_listed(config->blocks, &list->prefixes[i]))
            continue;
        fits = config->carry_out(config->context, &block);
        added += fits;
    }
    if (!fits) {
        fail(list, "there are too many blocks");
        return;
    }
    if (config->stats) {
        config->stats->block_lists_read++;
        if (added > 0 || removed > 0 || list->failed)
            log_info("--blocks-from: %u blocked, %u no longer, %u in all", added, removed,
                     list->count);
    }
    list->failed = false;
}

static void on_answer(void *context, const struct fetch_answer *answer)
{
    struct block_list *list = context;
    char why[64];
    list->fetch = NULL;
    loop_timer_start(list->config.loop, &list->timer, list->config.seconds);
    if (answer->error) {
        fail(list, answer->error);
        return;
    }
    const unsigned line = strlen(answer->body) < answer->size ? 1 : parse(list, answer->body);
    snprintf(why, sizeof why, "line %u is neither an address nor a prefix", line);
    if (list->count == BLOCKS_MAX && line > 0)
        snprintf(why, sizeof why, "it has more than %d prefixes", BLOCKS_MAX);
    if (line > 0)
        fail(list, why);
    else
        apply(list);
}

static void ask(void *context)
{
    struct block_list *list = context;
    const struct fetch_request request = {
        .url = list->config.url, .answered = on_answer, .context = list};
    list->fetch = fetch_begin(list->config.loop, list->vhost, &request);
    if (list->fetch)
        return;
    fail(list, "no memory");
    loop_timer_start(list->config.loop, &list->timer, list->config.seconds);
}

struct block_list *block_list_create(const struct block_list_config *config)
{
    struct block_list *list = calloc(1, sizeof *list);
    if (!list)
        return NULL;
    list->config = *config;
    list->timer = (struct loop_timer){.expired = ask, .context = list};
    list->vhost = fetch_add_vhost(config->loop);
    if (!list->vhost) {
        free(list);
        return NULL;
    }
    ask(list);
    return list;
}

void block_list_destroy(struct block_list *list)
{
    if (!list)
        return;
    fetch_cancel(list->fetch);
    loop_timer_stop(&list->timer);
    free(list);
}
