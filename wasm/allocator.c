/* malloc and free of the standalone modules. Emscripten's own is twice as large when gzipped, and
   has what we do not need: memory by alignment, and speed with many free blocks. Here the free
   blocks are a list in the order of their addresses, and the first one that is long enough is used.
 */
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define PAGE 65536 /* bytes by which memory grows */

/* The head of a block, which comes before the bytes that the caller gets. */
struct block {
    alignas(max_align_t) struct block *next; /* while the block is free */
    size_t units;                            /* its length in heads, with this one */
};

/* The linker puts this behind everything else. */
extern struct block __heap_base;

static struct block first_free;

void free(void *memory)
{
    if (!memory)
        return;
    struct block *block = (struct block *)memory - 1, *before = &first_free;
    while (before->next && before->next < block)
        before = before->next;
    block->next = before->next;
    before->next = block;
    for (int i = 0; i < 2; i++, block = before) { /* with the one behind it, and the one before */
        if (block + block->units != block->next)
            continue;
        block->units += block->next->units;
        block->next = block->next->next;
    }
}

/* Takes the end of the first free block that is long enough; NULL when there is none. */
static struct block *take(size_t units)
{
    for (struct block *before = &first_free; before->next; before = before->next) {
        struct block *block = before->next;
        if (block->units < units)
            continue;
        block->units -= units;
        if (block->units == 0)
            before->next = block->next;
        block += block->units;
        block->units = units;
        return block;
    }
    return NULL;
}

/* Adds the memory that is not used yet, or else more of it, to the free blocks. */
static bool extend(size_t units)
{
    static struct block *end = &__heap_base;
    const size_t pages = units / (PAGE / sizeof *end) + 1;
    if ((uintptr_t)end == __builtin_wasm_memory_size(0) * PAGE &&
        __builtin_wasm_memory_grow(0, pages) == SIZE_MAX)
        return false;
    struct block *added = end;
    end = (struct block *)(__builtin_wasm_memory_size(0) * PAGE);
    added->units = (size_t)(end - added);
    free(added + 1);
    return true;
}

void *malloc(size_t size)
{
    const size_t units = size / sizeof first_free + 2;
    struct block *block;
    while ((block = take(units)) == NULL) {
        if (!extend(units))
            return NULL;
    }
    return block + 1;
}
