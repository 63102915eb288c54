package serve

import "golang.org/x/sys/unix"

// withUs: the process that makes a report ends with this one.
func withUs() *unix.SysProcAttr { return &unix.SysProcAttr{Pdeathsig: unix.SIGKILL} }
