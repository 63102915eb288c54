/* What the drain reads of a cell: words for the Go side. No JDK headers. */
#ifndef STACKAGENT_DRAIN_CELLS_H
#define STACKAGENT_DRAIN_CELLS_H
#include "state_cells.h"

/* Numbers of metrics; as wire.Metric (constants.go). EXTRA + 2k: extra metric k, EXTRA + 2k + 1: its self part. */
enum { SA_METRIC_WALL = 1, SA_METRIC_SELF_WALL = 2, SA_METRIC_CPU = 3, SA_METRIC_SELF_CPU = 4, SA_METRIC_QUEUE = 5,
       SA_METRIC_RESPONSE = 6, SA_METRIC_DELAY = 7, SA_METRIC_EXTRA = 16 };

/* What is new in a cell: words, 0 if there is nothing. out has room for
 * sa_report_words(). Adapts the cell to what it finds. */
enum { SA_REPORT_HEADER = 9 + SA_TALLIES, SA_REPORT_MEASURE = 5, SA_REPORT_EACH = SA_REPORT_MEASURE + SA_BUCKETS, SA_REPORT_WORDS = SA_REPORT_HEADER + 7 * SA_REPORT_EACH, SA_REPORT_SCHEDULED_MOST = 16 };
static inline size_t sa_report_words(void) { return SA_REPORT_WORDS + SA_REPORT_SCHEDULED_MOST + 2 * (size_t)sa_cells_policy.extras * SA_REPORT_EACH; }
enum { SA_REPORT_COUNT_BITS = 52 }; /* of a bucket's word; its index is above */
size_t sa_cell_report(sa_cell *c, uint64_t now, bool last, uint64_t *out); /* last: there will be no other report */
/* What is new of its sites, from *next (sa_cell_sites for the first call), which moves
 * to the first that finds no room, or to NULL. The first word has SA_REPORT_SITES
 * beside the length; two words per site follow key and virtual. */
#define SA_REPORT_SITES (UINT64_C(1) << 63)
enum { SA_REPORT_SITES_HEADER = 3 };
size_t sa_cell_report_sites(sa_cell *c, sa_site_count **next, uint64_t *out, size_t max_words);
/* What is new of its virtual threads: SA_REPORT_SCHEDULED words, 0 if there is
 * nothing. It follows what sa_cell_report writes; its second word is 0. */
enum { SA_REPORT_SCHEDULED = 4 + SA_V_SUMS + SA_V_MAXIMA };
size_t sa_cell_report_scheduled(sa_cell *c, uint64_t now, uint64_t *out);
#endif
