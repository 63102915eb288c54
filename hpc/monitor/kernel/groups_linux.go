// Package kernel has the groups of monitors of the operating system, of what the native layer asks of it, and of the
// hardware. All are read from outside the JVM.
package kernel

import "stackagent/hpc/monitor"

// Groups are the groups of this package.
func Groups() []monitor.Group {
	return []monitor.Group{procGroup(), faultGroup(), callGroup(), hardwareGroup()}
}
