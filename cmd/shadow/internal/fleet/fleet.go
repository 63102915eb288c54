// Package fleet is shadow fleet: questions over the sessions of many JVMs, answered from their roll-ups.
package fleet

import (
	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
)

// New is the verb with its verbs.
func New(env console.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Questions over many sessions: services, versions, instances, trends",
		Long: `Answers questions over the sessions of a fleet, in a folder or an object store
(s3://BUCKET/PREFIX), from their roll-ups: sums of five minutes each, which shadow serve
writes as sessions come, and which stay when the sessions have gone.`,
		Example: `  shadow fleet top s3://traces/stackagent --service orders --sort queue
  shadow fleet versions s3://traces/stackagent --service orders
  shadow fleet findings s3://traces/stackagent --last 30d`,
	}
	cmd.AddCommand(newTop(env), newVersions(env), newOutliers(env), newTrends(env), newFindings(env), newAdd(env), newCompact(env), newRetain(env), newViews(env))
	return cmd
}
