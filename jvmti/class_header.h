/* The head of a class file, read with bounds: enough to decide whether a class
 * can be of interest. Everything is hostile until parsed. */
#ifndef STACKAGENT_CLASS_HEADER_H
#define STACKAGENT_CLASS_HEADER_H
#include "class.h"

typedef struct {
    char name[512]; /* internal name; "" when it did not fit */
    uint32_t super_count;
    sa_super supers[SA_MAX_SUPERS]; /* the superclass first */
    uint8_t executions;             /* SA_KIND_* whose execution method it has code for, by name and type */
    bool is_final;
    bool sites;                     /* it may make tasks or hand them over, as far as its constants tell */
    bool complete; /* false: more supertypes or longer names than fit, or methods that cannot be read */
} sa_header;

/* False: not a class file that we understand. */
bool sa_read_header(const unsigned char *b, uint32_t len, sa_header *h);

/* The same, and whether the class may have sites. */
bool sa_read_header_sites(const unsigned char *b, uint32_t len, sa_header *h);

/* Internal names of classes, as strcmp sorts them. */
typedef struct {
    char **list;
    size_t n;
} sa_names;

/* Of a loaded class, from its constants as JVMTI gives them: may it have sites?
 * super: the name of its superclass; no_tasks: classes that are loaded, too, and
 * are no tasks. */
bool sa_constants_have_sites(const unsigned char *b, uint32_t len, uint32_t count, const char *name, const char *super,
                             const sa_names *no_tasks);

/* The same: do they name one of the probes' classes? */
bool sa_constants_name_probes(const unsigned char *b, uint32_t len, uint32_t count);
#endif
