/* Wraps the declarations of every public header. It gives them C linkage in C++, and makes a shared
   library export them and nothing else. A function may share its name with a struct, as
   cw_endpoint_stats does. In C++ that hides the struct's constructor, which nobody needs; the
   warning about it is turned off. */
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
