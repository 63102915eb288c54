package sched

import "stackagent/hpc/kernelprog"

// UnavailableError says that a source of the record is not available here.
type UnavailableError = kernelprog.UnavailableError
