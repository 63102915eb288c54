package kernelprog

import (
	"errors"
	"io/fs"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"stackagent/internal/text"
)

// UnavailableError says that a source in the kernel is not available here.
type UnavailableError struct {
	What   string // "eBPF", "switch records of perf"
	Reason string // one sentence without a full stop
	Remedy string // what would help; may be empty
	Err    error  // the cause; may be nil
}

func (e *UnavailableError) Error() string {
	s := e.What + " not available: " + e.Reason
	if e.Remedy != "" {
		s += " (" + e.Remedy + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Explain explains a failure to load or to attach programs.
func Explain(err error) error {
	u := &UnavailableError{What: "eBPF", Err: err}
	var refused *ebpf.VerifierError
	switch {
	case errors.As(err, &refused) && len(refused.Log) > 0: // its error number may be EACCES, but no right is missing
		u.Reason, u.Remedy = "this kernel refuses the program: "+text.FirstLine(refused.Error()), "report the version of this kernel as a bug of stackagent"
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES), errors.Is(err, fs.ErrPermission):
		u.Reason, u.Remedy = "programs in the kernel are not permitted to this user", "run shadow as root, or as root: setcap cap_bpf,cap_perfmon+ep PATH_OF_SHADOW"
	case errors.Is(err, btf.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, btf.ErrNotSupported):
		u.Reason, u.Remedy = "the kernel does not describe its types (BTF)", "boot a kernel with CONFIG_DEBUG_INFO_BTF"
	case errors.Is(err, unix.ENOSYS), errors.Is(err, ebpf.ErrNotSupported):
		u.Reason, u.Remedy = "the kernel has no eBPF, or too little of it", "use Linux 5.18 or later"
	default:
		u.Reason = text.FirstLine(err.Error())
	}
	return u
}

// InitialPIDNamespace returns an error in a container: the programs see the thread ids of the whole machine.
func InitialPIDNamespace() error {
	const initial = "pid:[4026531836]" // PROC_PID_INIT_INO
	space, err := os.Readlink("/proc/self/ns/pid")
	if err == nil && space != initial {
		return &UnavailableError{What: "eBPF", Reason: "shadow runs in a container, whose process ids are not those that the kernel's programs see",
			Remedy: "run shadow outside of it, or the container with --pid=host"}
	}
	return nil // if it cannot be read, try
}
