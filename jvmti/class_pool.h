/* The constant pool of a class file, with checked bounds. */
#ifndef STACKAGENT_CLASS_POOL_H
#define STACKAGENT_CLASS_POOL_H
#include "class_header.h"

/* Tags. */
enum { UTF8 = 1, LONG = 5, DOUBLE = 6, CLASS = 7, METHOD = 10, INTERFACE_METHOD = 11, NAME_AND_TYPE = 12, DYNAMIC = 18 };

/* The constant pool; offsets[i] is where the body of entry i begins. */
typedef struct {
    const unsigned char *bytes;
    uint32_t count, *offsets;
    uint8_t *tags;
} sa_pool;

/* class_header.c: the constants of a loaded class, as JVMTI returns them. Close it in every case. */
bool sa_pool_open(sa_pool *p, const unsigned char *b, uint32_t len, uint32_t count);
void sa_pool_close(sa_pool *p);

/* class_sites.c: the class that may have sites */
typedef struct {
    const char *class_name;
    uint32_t super_class;      /* its entry */
    const unsigned char *code; /* what follows the constants, including the code; NULL: not available */
    size_t code_len;
    const sa_names *no_tasks;  /* classes known to be no tasks; NULL: none; without a list any class may be one */
} sa_site_class;

/* May the class create or submit tasks, by its constants? Classes of the JDK have no
 * sites of interest. */
bool sa_may_have_sites(const sa_pool *p, const sa_site_class *of);
#endif
