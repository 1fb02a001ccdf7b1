/* What stands around the declarations of every public header: they are C's, also in C++, and a
   shared library exports them and nothing else. Functions may have the name of a struct, as
   cw_endpoint_stats has; in C++ that hides the struct's constructor, which has no use here. */
#ifndef CAUSEWAY_LINKAGE_H
#define CAUSEWAY_LINKAGE_H

#if defined(__GNUC__)
#define CW_BEGIN_EXPORTS _Pragma("GCC visibility push(default)")
#define CW_END_EXPORTS   _Pragma("GCC visibility pop")
#else
#define CW_BEGIN_EXPORTS
#define CW_END_EXPORTS
#endif

#if !defined(__cplusplus)
#define CW_BEGIN_DECLARATIONS CW_BEGIN_EXPORTS
#define CW_END_DECLARATIONS   CW_END_EXPORTS
#elif defined(__GNUC__)
#define CW_BEGIN_DECLARATIONS                                                                      \
    CW_BEGIN_EXPORTS                                                                               \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") extern "C"       \
    {
#define CW_END_DECLARATIONS                                                                        \
    }                                                                                              \
    _Pragma("GCC diagnostic pop") CW_END_EXPORTS
#else
#define CW_BEGIN_DECLARATIONS extern "C" {
#define CW_END_DECLARATIONS   }
#endif

#endif
