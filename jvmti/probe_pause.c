/* The record of a garbage collection's pause, and who asked for it. */
#include <string.h>

#include "probe.h"
#include "probe_common.h"
#include "state_contexts.h"
#include "state_gc_cause.h"
#include "state_news.h"

/* Who called System.gc(), until it returns: the site, and above it whether a direct buffer found no memory. Of two callers at a time, the
 * later one is seen. */
static _Atomic uint64_t asked;
enum { FOR_BUFFERS_BIT = 32 };

/* Is the caller java.nio.Bits? It calls System.gc(), which calls Runtime.gc(), whose frame is the first. */
static bool for_buffers(void) {
    jvmtiFrameInfo frames[3];
    jint n = 0;
    jclass c = NULL;
    char *signature = NULL;
    if ((*sa.jvmti)->GetStackTrace(sa.jvmti, NULL, 0, 3, frames, &n) != JVMTI_ERROR_NONE || n < 3) return false;
    if ((*sa.jvmti)->GetMethodDeclaringClass(sa.jvmti, frames[2].method, &c) != JVMTI_ERROR_NONE) return false;
    bool yes = (*sa.jvmti)->GetClassSignature(sa.jvmti, c, &signature, NULL) == JVMTI_ERROR_NONE && strcmp(signature, "Ljava/nio/Bits;") == 0;
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)signature);
    return yes;
}

uint64_t sa_pause_ask(const sa_thread *c) {
    sa_os *os = recording() ? begin() : NULL;
    if (os == NULL) return 0;
    uint32_t site = sa_wait_site_here(os, c);
    end(os);
    if (site == 0) return 0;
    uint64_t by = (uint64_t)for_buffers() << FOR_BUFFERS_BIT | site;
    atomic_store(&asked, by);
    return by;
}

void sa_pause_asked(uint64_t by) {
    if (by != 0) atomic_compare_exchange_strong(&asked, &by, 0);
}

void sa_pause_record(uint64_t start, uint64_t finish, uint32_t cause) {
    sa_os *os = begin();
    if (os == NULL) {
        if (recording()) atomic_fetch_add(&sa_losses.lost_pauses, 1);
        return;
    }
    sa_pause *p = reserve_now(os, 1); /* never wait inside a pause */
    if (p == NULL) {
        sa_refuse("GC pause not recorded: ring full", NULL);
    } else {
        memset(p, 0, sizeof *p);
        p->type = SA_REC_PAUSE;
        p->start_ticks = start;
        p->end_ticks = finish;
        p->cause = cause;
        if (cause == sa_gc_cause_of(SA_CAUSE_SYSTEM_GC)) {
            uint64_t by = atomic_load(&asked);
            p->site = (uint32_t)by;
            p->buffers = (uint8_t)(by >> FOR_BUFFERS_BIT);
        }
        sa_ring_commit(&os->ring, 1);
    }
    end(os);
}
