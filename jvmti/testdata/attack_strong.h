/* For ThreadSanitizer, which knows neither the fences of a compiler nor the pause of sa_settle, by which a probe's mark
 * comes before its look at the phase. What the sanitizer still finds has no order at all. */
#include <stdatomic.h>
#define memory_order_relaxed memory_order_seq_cst
