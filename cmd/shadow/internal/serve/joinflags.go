package serve

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/internal/busauth"
	"stackagent/shadow/collect/bus"
)

// passwordVariable holds the password of --user where --password-file is not given.
const passwordVariable = "STACKAGENT_BUS_PASSWORD"

// joinFlags say which server to join and how to authenticate.
type joinFlags struct {
	nats, tokenFile, user, passwordFile, creds, nkey string
	tlsCA, tlsCert, tlsKey, busOwner                 string
}

func (f *joinFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.nats, "nats", "", "join this NATS server, or the servers of a cluster joined with ','")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the bus's token, or with the seed of an NKEY (also $"+record.TokenVariable+")")
	flags.StringVar(&f.user, "user", "", "user of the NATS server, with --password-file or $"+passwordVariable)
	flags.StringVar(&f.passwordFile, "password-file", "", "file with the user's password")
	flags.StringVar(&f.creds, "creds", "", "NATS credentials file (JWT)")
	flags.StringVar(&f.nkey, "nkey", "", "file with the seed of an NKEY")
	flags.StringVar(&f.tlsCA, "tls-ca", "", "PEM file of the authorities that the other side's certificate is checked against")
	flags.StringVar(&f.tlsCert, "tls-cert", "", "PEM file with our certificate")
	flags.StringVar(&f.busOwner, "bus-owner", "", "id of a user, beside this one, root and the owner of the secret's file, who may hold the port of --nats on this machine; or any")
	flags.StringVar(&f.tlsKey, "tls-key", "", "PEM file with the certificate's key")
}

// personal reports whether the shadow authenticates by more than a token.
func (f *joinFlags) personal() bool { return f.user != "" || f.creds != "" || f.nkey != "" }

// auth reads the files and the environment.
func (f *joinFlags) auth(env console.Env) (busauth.Auth, error) {
	a := busauth.Auth{User: f.user, CredsFile: f.creds, NKeyFile: f.nkey, TLSCA: f.tlsCA, TLSCert: f.tlsCert, TLSKey: f.tlsKey, Owner: f.busOwner}
	var err error
	switch {
	case f.tokenFile != "":
		if _, err = ReadToken(f.tokenFile); err == nil {
			err = a.SetToken(f.tokenFile)
		}
	case f.user != "" && f.passwordFile != "":
		if err = a.SetPassword(f.passwordFile); err != nil {
			err = fmt.Errorf("--password-file: %w", err)
		}
	case f.user != "":
		a.Password = env.Getenv(passwordVariable)
	case !f.personal():
		if s, bad := busauth.ParseServers(f.nats); bad != nil || !s.Secret {
			a.SetSecret(env.Getenv(record.TokenVariable))
		}
	}
	return a, err
}

// join makes this shadow one of those of the server.
func (f *joinFlags) join(env console.Env, o bus.JoinOptions) (*bus.Bus, error) {
	return f.connect(env, o, bus.Join)
}

// connect connects to the server by bus.Join or bus.Reach.
func (f *joinFlags) connect(env console.Env, o bus.JoinOptions, to func(bus.JoinOptions) (*bus.Bus, error)) (*bus.Bus, error) {
	var err error
	if o.Auth, err = f.auth(env); err != nil {
		return nil, err
	}
	if s, err := busauth.ParseServers(f.nats); err == nil && s.Secret {
		env.Note("every user of this machine can read the secret in --nats; use a file instead")
	}
	o.URL = f.nats
	if o.Logger == nil {
		o.Logger = env.Logger()
	}
	return to(o)
}

// hostFlags are those of the shadow's own bus, and of the stream.
type hostFlags struct {
	listen, users string
	replicas      int
	size          int64 // MiB
	age           time.Duration
}

func (f *hostFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", bus.DefaultListen, "address of the bus; port 0: a free one")
	flags.StringVar(&f.users, "users", "", "file with the users and NKEYs of the bus, in the syntax of a NATS server (default: a token)")
	flags.IntVar(&f.replicas, "replicas", 0, "servers of the cluster that keep each batch until it is stored (default 3 where there are as many)")
	flags.Int64Var(&f.size, "bus-size", 0, "MiB of batches that wait to be stored; a full bus refuses more (default 8192, less on a small disk)")
	flags.DurationVar(&f.age, "bus-age", 0, "how long a batch waits to be stored before it is dropped (default 168h)")
}

func (f *hostFlags) check(joins bool) error {
	switch {
	case f.replicas < 0 || f.replicas > 5:
		return console.Usagef("--replicas %d: want 1 to 5", f.replicas)
	case f.replicas > 1 && !joins:
		return console.Usagef("--replicas %d: the bus of the shadow is one server; run a cluster and join it with --nats", f.replicas)
	case f.size < 0 || f.size > 1<<30:
		return console.Usagef("--bus-size %d: want MiB, 1 to %d", f.size, 1<<30)
	case f.age < 0:
		return console.Usagef("--bus-age %v: want a time above 0", f.age)
	case f.users != "" && joins:
		return console.Usagef("--users sets up the shadow's own bus; the server of --nats has its own users")
	}
	return nil
}
