/* Submissions, as other probes record them. */
#ifndef STACKAGENT_PROBE_SUBMIT_H
#define STACKAGENT_PROBE_SUBMIT_H
#include "probe_common.h"

/* Like begin(). A lambda keeps the submission probes of an earlier session; in a session without submissions they
 * record nothing. */
static inline sa_os *begin_on(sa_thread *c) {
    sa_os *os = c == NULL || !sa.config.submissions || !renew(c) ? NULL : begin();
    if (os == NULL || !overtaken(os, c)) return os;
    end(os);
    return NULL;
}

/* Call it where begin_on returns NULL: counts what is lost. What is wrong with the
 * thread's state alone is counted by sa_renew. */
SA_COLD void sa_submission_lost(sa_thread *c);
void sa_submission_record(sa_os *os, sa_thread *c, const sa_open_submission *h, uint64_t now);
#endif
