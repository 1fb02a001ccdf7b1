/* Debug builds check that an object is in use by one thread at a time, and assert when two threads
   call into it at once. Objects have no locks: such calls damage each other, but rarely where it is
   seen. Release builds have neither the check nor the member, nor have compilers without the
   attribute `cleanup`. */
#ifndef CAUSEWAY_ONE_THREAD_H
#define CAUSEWAY_ONE_THREAD_H

#if !defined(NDEBUG) && defined(__GNUC__)

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The thread that is in a call; NULL when there is none. */
typedef const void *_Atomic cw_one_thread;

struct cw_one_thread_call {
    cw_one_thread *ends; /* set in the outermost of a thread's calls; NULL without an object too */
    bool refused;
};

/* object may be NULL. */
static inline struct cw_one_thread_call cw_one_thread_begin(cw_one_thread *object)
{
    const void *user = NULL;
    const void *const self = &errno; /* each thread has its own */
    if (!object || atomic_compare_exchange_strong(object, &user, self))
        return (struct cw_one_thread_call){.ends = object};
    return (struct cw_one_thread_call){.refused = user != self};
}

static inline void cw_one_thread_end(const struct cw_one_thread_call *call)
{
    if (call->ends)
        atomic_store(call->ends, NULL);
}

/* Stands in the struct of an object. */
#define CW_ONE_THREAD_MEMBER cw_one_thread one_thread

#define CW_ONE_THREAD_ASSERT(call)                                                                 \
    assert(!(call).refused &&                                                                      \
           "another thread is using this object; call it from one thread at a time")

/* Stands at the beginning of a function that changes the object, which may be NULL, and holds for
   as long as the function runs. */
#define CW_ONE_THREAD(object)                                                                      \
    __attribute__((cleanup(cw_one_thread_end))) const struct cw_one_thread_call one_thread_call =  \
        cw_one_thread_begin((object) ? &(object)->one_thread : NULL);                              \
    CW_ONE_THREAD_ASSERT(one_thread_call)

/* Stands likewise at the beginning of a function that destroys the object. */
#define CW_ONE_THREAD_LAST(object)                                                                 \
    CW_ONE_THREAD_ASSERT(cw_one_thread_begin((object) ? &(object)->one_thread : NULL))

#else

#define CW_ONE_THREAD_MEMBER       _Static_assert(1, "debug builds have a member here")
#define CW_ONE_THREAD(object)      ((void)0)
#define CW_ONE_THREAD_LAST(object) ((void)0)

#endif

#endif
