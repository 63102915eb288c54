package bus

import (
	"errors"
	"fmt"

	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"stackagent/internal/announce"
	"stackagent/internal/busauth"
)

// Agents is the account of the agents in an embedded server. Shadows are in the server's global account, where the
// streams are. Only what agents publish to Subjects and announce, and the answers, cross. So an agent can neither read what
// shadows send to each other or to the server, nor direct an acknowledgement to a subject of theirs: NATS does not
// check the reply subject of a message against the sender's permissions, but the reply stays in the sender's account.
const Agents = "AGENTS"

const globalAccount = "$G"

// agentPermissions are those of an agent that the file of users gives none.
func agentPermissions() *server.Permissions {
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: crossing},
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
	}
}

// crossing are the subjects on which agents reach the shadows.
var crossing = []string{Subjects, announce.Subjects}

// observerPermissions let an observer hear announcements and answer them, and send what it saw. It is in the shadows'
// account, but can neither read batches nor use a stream.
func observerPermissions(name string) *server.Permissions {
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{Observed + ">"}},
		Subscribe: &server.SubjectPermission{Allow: []string{announce.Subjects, busauth.Inbox(name) + ".>"}},
		Response:  &server.ResponsePermission{MaxMsgs: server.DEFAULT_ALLOW_RESPONSE_MAX_MSGS, Expires: server.DEFAULT_ALLOW_RESPONSE_EXPIRATION},
	}
}

// observes reports whether permissions are an observer's: it hears announcements.
func observes(p *server.Permissions) bool {
	if p.Subscribe == nil {
		return false
	}
	for _, subject := range p.Subscribe.Allow {
		if strings.HasPrefix(subject, strings.TrimSuffix(announce.Subjects, ">")) {
			return true
		}
	}
	return false
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
	for _, subject := range crossing {
		if err := shadows.AddServiceExport(subject, []*server.Account{agents}); err != nil {
			return fmt.Errorf("letting batches through: %w", err)
		}
		if err := agents.AddServiceImport(shadows, subject, subject); err != nil {
			return fmt.Errorf("letting batches through: %w", err)
		}
	}
	return nil
}

// assign puts the users of a file into accounts: users with permissions are agents or observers, users without are shadows.
func (a *access) assign() {
	agents := server.NewAccount(Agents) // the server goes by the name
	for _, u := range a.users {
		if u.Permissions != nil && !observes(u.Permissions) {
			u.Account = agents
		}
	}
	for _, u := range a.nkeys {
		if u.Permissions != nil && !observes(u.Permissions) {
			u.Account = agents
		}
	}
}
