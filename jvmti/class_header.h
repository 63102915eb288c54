/* The head of a class file, with checked bounds: enough to decide whether a class can
 * be of interest. Class files are not trusted. */
#ifndef STACKAGENT_CLASS_HEADER_H
#define STACKAGENT_CLASS_HEADER_H
#include "class.h"

typedef struct {
    char name[512]; /* internal name; "" when it did not fit */
    uint32_t super_count;
    sa_super supers[SA_MAX_SUPERS]; /* the superclass first */
    uint8_t executions;             /* SA_KIND_* whose execution method has code here, by name and type */
    bool is_final;
    bool sites;                     /* it may create or submit tasks, by its constants */
    bool never_loads; /* a supertype does not exist, as far as its loader knows; set while supertypes are resolved */
    bool complete; /* false: too many supertypes, too long names, or unreadable methods */
} sa_header;

/* False: it is not a known form of class file. */
bool sa_read_header(const unsigned char *b, uint32_t len, sa_header *h);

/* Like sa_read_header; also fills in sites. */
bool sa_read_header_sites(const unsigned char *b, uint32_t len, sa_header *h);

/* Internal names of classes, in strcmp's order. */
typedef struct {
    char **list;
    size_t n;
} sa_names;

/* May a loaded class have sites? From its constants as JVMTI returns them. super: the
 * name of its superclass; no_tasks: loaded classes that are no tasks. */
bool sa_constants_have_sites(const unsigned char *b, uint32_t len, uint32_t count, const char *name, const char *super,
                             const sa_names *no_tasks);

/* Does a loaded class name one of the helper's classes? */
bool sa_constants_name_probes(const unsigned char *b, uint32_t len, uint32_t count);
#endif
