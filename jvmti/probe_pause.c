/* The record of a garbage collection's pause. */
#include "probe.h"
#include "probe_common.h"
#include "state_news.h"

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
        sa_ring_commit(&os->ring, 1);
    }
    end(os);
}
