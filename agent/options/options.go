// Package options declares the agent's options, once (see Option), and reads and writes the option
// string -agentpath:libstackagent.so=KEY=VALUE,KEY=VALUE,...
//
// A value ends at the next comma. A comma or backslash inside a value has a backslash before it.
// Parse is pure; Auth reads files and the environment.
//
// To add an option: declare it in declare.go, give it a field in Options, and use the field. An option that the probes have
// to know gets its field, also in C, from internal/schema/settings.go. The flag of shadow run and attach and the row in the
// user guide follow (go test ./agent/options -run Guide -update).
package options

import (
	"fmt"
	"slices"
	"time"

	"stackagent/internal/busauth"
	"stackagent/internal/label"
	"stackagent/internal/monitorspec"
	"stackagent/internal/perfevent"
	"stackagent/internal/settings"
	"stackagent/internal/wire"
)

// Options of the agent.
type Options struct {
	settings.Settings // those that the probes have to know

	Bus     string // NATS URL, several joined with ','
	Session string // "": see SessionName
	Labels  label.Labels

	Metrics []string          // to measure: "wall", "cpu", "alloc", names of performance events
	Events  []perfevent.Event // the performance events among Metrics

	Tasks   []string // com.acme.Job#process(Lcom/acme/Ctx;)V; the descriptor is optional; or @kafka, see taskdef.Preset
	Include []string // globs of class names; empty: all
	Exclude []string

	Token     string // of the bus; TokenFile is better, as every user can read a command line
	TokenFile string

	User         string // of the bus
	PasswordFile string
	Creds        string // NATS credentials file
	NKey         string // file with the seed of an NKEY
	TLSCA        string
	TLSCert      string
	TLSKey       string
	BusOwner     string // id of a user who may hold the bus's port on this machine, or "any"

	Spool      string // folder for batches that wait for the bus; "": the default one, SpoolOff: none
	SpoolBytes int64  // largest size of the spool file, bytes
	Plans      string // folder for plans of woven classes; "": the default one, PlansOff: none
	Observer   Observer
	Buffer     int64 // memory for batches that wait for the bus, bytes

	Monitors        []monitorspec.Spec // read inside the JVM
	MonitorInterval time.Duration

	Strict   bool // do not start the JVM if an option is wrong
	Children bool // profile the JVMs that this JVM starts, too
}

// Observer says whether the JVM is announced to observers of its host, and how long the program waits for an answer.
type Observer struct {
	Off  bool          // not announced
	Wait time.Duration // 0: waits only if an observer answered an earlier JVM, auto
}

// Extras returns the Metrics other than wall and CPU time, in their order.
func (o *Options) Extras() []string {
	return slices.DeleteFunc(slices.Clone(o.Metrics), func(m string) bool { return m == "wall" || m == "cpu" })
}

// DefaultBus is the URL of a shadow on the same machine.
const DefaultBus = "nats://127.0.0.1:4222"

// Environment variables with a secret of the bus, used if no option has one.
const (
	TokenVariable    = "STACKAGENT_BUS_TOKEN"
	PasswordVariable = "STACKAGENT_BUS_PASSWORD" // of user=
)

// Default returns the options of an empty option string.
func Default() Options {
	var o Options
	for i := range all {
		if d := all[i].Default; d != "" {
			all[i].set(&o, d)
		}
	}
	return o
}

// Auth returns how the agent shows the bus who it is: as the options say, else by the token in the
// environment, if there is one.
func (o *Options) Auth(getenv func(string) string) (busauth.Auth, error) {
	a := busauth.Auth{Token: o.Token, User: o.User, CredsFile: o.Creds, NKeyFile: o.NKey, TLSCA: o.TLSCA, TLSCert: o.TLSCert, TLSKey: o.TLSKey, Owner: o.BusOwner}
	var err error
	switch {
	case o.TokenFile != "":
		if err = a.SetToken(o.TokenFile); err != nil {
			return a, fmt.Errorf("tokenfile: %w", err)
		}
	case o.User != "" && o.PasswordFile != "":
		if err = a.SetPassword(o.PasswordFile); err != nil {
			return a, fmt.Errorf("passwordfile: %w", err)
		}
	case o.User != "":
		if a.Password = getenv(PasswordVariable); a.Password == "" {
			return a, fmt.Errorf("user: the password is missing: give passwordfile=FILE, or set %s", PasswordVariable)
		}
	case o.Token == "" && o.Creds == "" && o.NKey == "" && !o.inURL():
		a.SetSecret(getenv(TokenVariable))
	}
	return a, nil
}

// inURL reports whether the URL of the bus holds credentials.
func (o *Options) inURL() bool {
	s, err := busauth.ParseServers(o.Bus)
	return err == nil && s.Secret
}

// Exposed returns a warning if a secret is on the command line, which every user of the machine can
// read, else "".
func (o *Options) Exposed() string {
	if o.Token == "" && !o.inURL() {
		return ""
	}
	return "the bus's secret is on the command line, where every user of this machine can read it; give it by tokenfile=FILE, creds=FILE, nkey=FILE, passwordfile=FILE or " + TokenVariable
}

// SessionName returns the session's name: the one given, else host-pid-start. Characters of the
// host's name that a session may not have become dashes.
func (o *Options) SessionName(host string, pid int, start time.Time) string {
	if o.Session != "" {
		return o.Session
	}
	tail := fmt.Sprintf("-%d-%s", pid, start.UTC().Format("20060102T150405.000Z"))
	return hostPart(host, wire.MaxSession-len(tail)) + tail
}

// hostPart returns the beginning of a session's name, made from the host's name.
func hostPart(host string, longest int) string {
	b := []byte(host)
	for i, c := range b {
		if wire.ValidSession(string(c)) != nil { // also dots: they have rules of their own
			b[i] = '-'
		}
	}
	if len(b) > longest {
		b = b[:longest]
	}
	if len(b) == 0 {
		return "host"
	}
	return string(b)
}
