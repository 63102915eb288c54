package main

import (
	"net/url"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/cmd/shadow/internal/serve"
	"stackagent/cmd/shadow/internal/top"
	"stackagent/internal/busauth"
)

type topFlags struct {
	listflags.Flags
	page, tokenFile, tlsCA string
	once                   bool
}

func newTop(env console.Env) *cobra.Command {
	var f topFlags
	cmd := &cobra.Command{
		Use:   "top [PID|URL|FOLDER]",
		Short: "The live view in a terminal",
		Long: `Shows what the JVMs of a "shadow serve" do now: tasks per second, queues, CPUs, the
busiest classes and executors, the longest running and longest queued tasks, and
findings. It asks the live page every second and reconnects if the shadow restarts.

Without an argument it shows all JVMs, or the only one. Arrows choose a JVM or a row,
Enter opens it, Escape goes back, s sorts, p pauses, q quits.

In a pipe it prints a snapshot each second; --once prints one. JSON is that of the
page's /live.json.`,
		Example: `  shadow top
  shadow top 4711
  shadow top http://127.0.0.1:8080 --token-file shadow-store/.keys/page
  shadow top --once --format json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return console.Usagef("want one process id, address or session, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			o, err := f.options(env, strings.Join(args, ""))
			if err != nil {
				return err
			}
			return top.Run(cmd.Context(), env, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.page, "page", "http://"+serve.DefaultHTTP, "address of the live page")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the page's password (also $"+record.TokenVariable+")")
	flags.StringVar(&f.tlsCA, "tls-ca", "", "PEM file of the authorities that the page's certificate is checked against")
	flags.BoolVar(&f.once, "once", false, "print one snapshot")
	f.AddTo(cmd, env, false, "table", "json", "csv")
	return cmd
}

// options are those of top.Run for an argument: a URL says where the page is and may
// name a JVM as the page's own addresses do.
func (f *topFlags) options(env console.Env, arg string) (top.Options, error) {
	o := top.Options{JVM: arg, Once: f.once, Format: f.Format}
	address := f.page
	if strings.Contains(arg, "://") {
		address, o.JVM = arg, ""
		if u, err := url.Parse(arg); err == nil && strings.HasPrefix(u.Path, "/jvm/") {
			o.JVM = path.Base(u.Path)
		}
	}
	password, err := env.Getenv(record.TokenVariable), error(nil)
	if f.tokenFile != "" {
		password, err = serve.ReadToken(f.tokenFile)
	}
	if err != nil {
		return o, err
	}
	if busauth.IsSeed(password) {
		password = "" // a seed signs and must not travel: the page's password is another one
	}
	o.Page, err = top.NewPage(address, password, f.tlsCA)
	return o, err
}
