/* The constant pool of a class file, once its bounds have been checked. */
#ifndef STACKAGENT_POOL_H
#define STACKAGENT_POOL_H
#include "header.h"

/* Tags. */
enum { UTF8 = 1, LONG = 5, DOUBLE = 6, CLASS = 7, METHOD = 10, INTERFACE_METHOD = 11, NAME_AND_TYPE = 12, DYNAMIC = 18 };

/* The constant pool; offsets[i] is where the body of entry i begins. */
typedef struct {
    const unsigned char *bytes;
    uint32_t count, *offsets;
    uint8_t *tags;
} sa_pool;

/* sites.c: may the class, as far as its constants tell, make tasks or hand them
 * over? rest: the n bytes behind its constants, the code among them. One of the
 * JDK has no places of interest. no_tasks: classes of which it is known already
 * that they are none; NULL: of none is it known. */
bool sa_may_have_sites(const sa_pool *p, const char *name, uint32_t super_class, const unsigned char *rest, size_t n,
                       const sa_names *no_tasks);
#endif
