package jvmti

/*
#include "agent.h"
#include "drain_cells.h"
#include "state_contexts.h"
*/
import "C"

import (
	"stackagent/internal/histogram"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// The C side and the wire have the same constants: an index other than 0 does not compile.
var _ = [...]struct{}{
	[1]struct{}{}[C.SA_KIND_THREAD-units.KindThread],
	[1]struct{}{}[C.SA_KIND_RUNNABLE-units.KindRunnable],
	[1]struct{}{}[C.SA_KIND_CALLABLE-units.KindCallable],
	[1]struct{}{}[C.SA_KIND_FORKJOIN-units.KindForkJoin],
	[1]struct{}{}[C.SA_KIND_CUSTOM-units.KindCustom],
	[1]struct{}{}[C.SA_KIND_JDK-units.KindJDK],
	[1]struct{}{}[C.SA_KIND_HIDDEN-units.KindHidden],
	[1]struct{}{}[C.SA_KIND_VIRTUAL-units.KindVirtual],
	[1]struct{}{}[C.SA_KIND_EXECUTOR-units.KindExecutor],

	[1]struct{}{}[C.SA_MAX_EXTRA-wire.MaxExtra],
	[1]struct{}{}[C.SA_MAX_CELL_EXTRA-wire.MaxExtra],
	[1]struct{}{}[C.SA_BUCKETS-histogram.Buckets],
	[1]struct{}{}[C.SA_METRIC_WALL-wire.MetricWall],
	[1]struct{}{}[C.SA_METRIC_SELF_WALL-wire.MetricSelfWall],
	[1]struct{}{}[C.SA_METRIC_CPU-wire.MetricCPU],
	[1]struct{}{}[C.SA_METRIC_SELF_CPU-wire.MetricSelfCPU],
	[1]struct{}{}[C.SA_METRIC_QUEUE-wire.MetricQueue],
	[1]struct{}{}[C.SA_METRIC_RESPONSE-wire.MetricResponse],
	[1]struct{}{}[C.SA_METRIC_DELAY-wire.MetricDelay],

	[1]struct{}{}[C.SA_CONTEXT_DEPTH-wire.MaxFrames],
	[1]struct{}{}[C.SA_NEAR_MOST-wire.MaxNearFrames],
}
