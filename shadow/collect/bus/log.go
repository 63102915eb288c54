package bus

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
)

// serverLog passes the server's warnings and errors to slog. Its notices and traces
// do not matter to the user of a profiler.
type serverLog struct {
	log    *slog.Logger
	mu     sync.Mutex
	broken atomic.Bool   // the stream has stopped taking messages
	breaks chan struct{} // receives a value when it does; nil: nobody listens
	dead   atomic.Bool   // the server does not start
	msg    string        // the latest error, to explain a failed start
}

func (l *serverLog) logger() *slog.Logger {
	if l.log != nil {
		return l.log
	}
	return slog.Default()
}

func (l *serverLog) keep(msg string) {
	l.mu.Lock()
	l.msg = msg
	l.mu.Unlock()
}

func (l *serverLog) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.msg == "" {
		return "no reason was given"
	}
	return l.msg
}

// Noticef implements server.Logger.
func (l *serverLog) Noticef(string, ...any) {}

// Debugf implements server.Logger.
func (l *serverLog) Debugf(string, ...any) {}

// Tracef implements server.Logger.
func (l *serverLog) Tracef(string, ...any) {}

// Warnf implements server.Logger.
func (l *serverLog) Warnf(format string, v ...any) {
	l.logger().Debug("bus: " + fmt.Sprintf(format, v...))
}

// Errorf implements server.Logger.
func (l *serverLog) Errorf(format string, v ...any) {
	msg := fmt.Sprintf(format, v...)
	l.keep(msg)
	if fatal(msg) {
		l.breakDown()
	}
	l.logger().Warn("bus: " + msg)
}

// breakDown wakes the keeper of the stream.
func (l *serverLog) breakDown() {
	l.broken.Store(true)
	select {
	case l.breaks <- struct{}{}:
	default: // it knows already, or there is none
	}
}

// Fatalf implements server.Logger. It does not end the process: Start reports.
func (l *serverLog) Fatalf(format string, v ...any) {
	msg := fmt.Sprintf(format, v...)
	l.keep(msg)
	l.dead.Store(true)
	l.logger().Error("bus: " + msg)
}
