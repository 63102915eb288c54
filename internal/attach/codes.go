package attach

import "errors"

// What Agent_OnAttach of our agent returns (jvmti/life_attach.c).
const (
	codeRuns    = 1
	codeOptions = 2
	codeJVM     = 3
	codeNone    = 4
	codeSession = 5
	codeLate    = 6
)

// Errors of Start and Stop.
var (
	ErrRuns    = errors.New("the agent in it records already (started with the JVM, or attached); shadow detach ends that")
	ErrOptions = errors.New("the agent does not take these options; it has said why on the program's standard error")
	ErrJVM     = errors.New("this JVM does not take the probes: it is older than 17, or another copy of the agent library is in it")
	ErrNone    = errors.New("no agent records in it")
	ErrSession = errors.New("the agent could not begin a session; it has said why on the program's standard error")
	ErrLate    = errors.New("the agent does not answer, or the JVM is about to end")
)

var byCode = map[int]error{codeRuns: ErrRuns, codeOptions: ErrOptions, codeJVM: ErrJVM, codeNone: ErrNone, codeSession: ErrSession, codeLate: ErrLate}

// explain describes an error code.
func explain(pid int, err error) error {
	var code *CodeError
	if !errors.As(err, &code) {
		return err
	}
	if words := byCode[code.Code]; words != nil {
		return &Error{PID: pid, Reason: "refused", Err: words}
	}
	return &Error{PID: pid, Reason: "refused", Err: code}
}
