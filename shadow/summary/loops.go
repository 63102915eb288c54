package summary

import "stackagent/internal/units"

// IsLoop tells from the name alone that executions of the class are the loop of
// a thread or of a pool's worker, not a piece of the program's work.
func IsLoop(name string, kinds units.Kinds) bool { return knownBody(name, kinds) }
