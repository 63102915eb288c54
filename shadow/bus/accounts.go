package bus

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
)

// Agents is the account of the agents in an embedded server. Shadows are in the server's global account, where the
// streams are. Only what agents publish to Subjects and its acknowledgements cross. So an agent can neither read what
// shadows send to each other or to the server, nor direct an acknowledgement to a subject of theirs: NATS does not
// check the reply subject of a message against the sender's permissions, but the reply stays in the sender's account.
const Agents = "AGENTS"

const globalAccount = "$G"

// agentPermissions are those of an agent that the file of users gives none.
func agentPermissions() *server.Permissions {
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{Subjects}},
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
	}
}

// separate adds the account of the agents to the options of a server. The server then gives the global account no
// JetStream; giveStreams does.
func separate(o *server.Options) { o.Accounts = []*server.Account{server.NewAccount(Agents)} }

// giveStreams gives the shadows' account JetStream, and lets batches through to it.
func giveStreams(srv *server.Server) error {
	if !srv.JetStreamEnabled() {
		return errors.New("the embedded server did not start JetStream")
	}
	shadows, err := srv.LookupAccount(globalAccount)
	if err != nil {
		return fmt.Errorf("account %s: %w", globalAccount, err)
	}
	agents, err := srv.LookupAccount(Agents)
	if err != nil {
		return fmt.Errorf("account %s: %w", Agents, err)
	}
	if !shadows.JetStreamEnabled() {
		if err := shadows.EnableJetStream(nil, nil); err != nil {
			return err
		}
	}
	if err := shadows.AddServiceExport(Subjects, []*server.Account{agents}); err != nil {
		return fmt.Errorf("letting batches through: %w", err)
	}
	if err := agents.AddServiceImport(shadows, Subjects, Subjects); err != nil {
		return fmt.Errorf("letting batches through: %w", err)
	}
	return nil
}

// assign puts the users of a file into accounts: users with permissions are agents, users without are shadows.
func (a *access) assign() {
	agents := server.NewAccount(Agents) // the server goes by the name
	for _, u := range a.users {
		if u.Permissions != nil {
			u.Account = agents
		}
	}
	for _, u := range a.nkeys {
		if u.Permissions != nil {
			u.Account = agents
		}
	}
}
