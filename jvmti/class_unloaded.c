/* Classes that are unloaded. Each class with an id is followed by a weak reference; a
 * thread that makes another class known looks at a few of them. Ids are never used
 * again. */
#include <stdlib.h>

#include "class.h"
#include "state_news.h"

enum { LOOKS = 4 }; /* at each new class: half of the list is checked while it grows by an eighth */

typedef struct {
    jweak class;
    uint32_t id;
} followed;

static pthread_mutex_t follow_lock = PTHREAD_MUTEX_INITIALIZER; /* held across calls for weak references */
static struct {
    followed *list;
    size_t n, room, at;
} all;

static struct {
    uint32_t *ids;
    size_t n, room;
} unloaded; /* what the drain has not taken; under unloaded_lock */
static pthread_mutex_t unloaded_lock = PTHREAD_MUTEX_INITIALIZER;

static bool make_room(void **list, size_t *room, size_t n, size_t each) {
    if (n < *room) return true;
    size_t wanted = *room == 0 ? 64 : *room * 2;
    void *p = realloc(*list, wanted * each);
    if (p == NULL) return false;
    *list = p;
    *room = wanted;
    return true;
}

/* Only records that exist already name the class. */
static void report_unloaded(uint32_t id) {
    pthread_mutex_lock(&unloaded_lock);
    if (make_room((void **)&unloaded.ids, &unloaded.room, unloaded.n, sizeof *unloaded.ids)) unloaded.ids[unloaded.n++] = id;
    pthread_mutex_unlock(&unloaded_lock);
    sa_news *m = calloc(1, sizeof *m);
    if (m == NULL) return;
    m->type = SA_NEWS_UNLOADED;
    m->id = id;
    sa_news_put(m);
}

static void look(JNIEnv *env) {
    if (all.at >= all.n) all.at = 0;
    if (all.n == 0) return;
    followed *f = &all.list[all.at];
    if (!(*env)->IsSameObject(env, f->class, NULL)) {
        all.at++;
        return;
    }
    (*env)->DeleteWeakGlobalRef(env, f->class);
    report_unloaded(f->id);
    *f = all.list[--all.n];
}

void sa_class_follow(JNIEnv *env, jclass c, uint32_t id) {
    jweak w = (*env)->NewWeakGlobalRef(env, c);
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
    if (w == NULL) return; /* no memory: it counts as loaded for ever */
    pthread_mutex_lock(&follow_lock);
    for (int i = 0; i < LOOKS; i++) look(env);
    bool ok = make_room((void **)&all.list, &all.room, all.n, sizeof *all.list);
    if (ok) all.list[all.n++] = (followed){w, id};
    pthread_mutex_unlock(&follow_lock);
    if (!ok) (*env)->DeleteWeakGlobalRef(env, w);
}

static int compare(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

uint32_t *sa_unloaded_take(size_t *n) {
    pthread_mutex_lock(&unloaded_lock);
    uint32_t *ids = unloaded.ids;
    *n = unloaded.n;
    memset(&unloaded, 0, sizeof unloaded);
    pthread_mutex_unlock(&unloaded_lock);
    if (ids != NULL) qsort(ids, *n, sizeof *ids, compare);
    return ids;
}

bool sa_unloaded_has(const uint32_t *ids, size_t n, uint32_t id) {
    return n > 0 && bsearch(&id, ids, n, sizeof id, compare) != NULL;
}
