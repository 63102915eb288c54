//go:build !linux

package launch

// awaitEnd is what Wait does anyway, where a command cannot be asked without being waited for.
func (*Process) awaitEnd() {}
