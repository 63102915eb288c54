package bus

import "github.com/nats-io/nats-server/v2/server"

// Stir changes when batches reach the embedded server or leave it, or when agents connect or go. It is read from
// memory, so that a shadow need not ask the stream many times a second whether anything has come.
type Stir struct {
	bytes   uint64 // that its streams hold
	clients int
}

// Stir returns the present state; false: the server is a joined one, which can only be asked.
func (b *Bus) Stir() (Stir, bool) {
	if b.streams == nil {
		return Stir{}, false
	}
	return Stir{bytes: b.streams.JetStreamUsage().Store, clients: b.srv.NumClients()}, true
}

// Alone reports that no agent is connected, and no other shadow.
func (s Stir) Alone() bool { return s.clients <= 1 }

// Comers receives a value when somebody connects to the embedded server. It is nil where that is not known.
func (b *Bus) Comers() <-chan struct{} { return b.comers }

// streamsOf is the account of the streams; nil: there is none.
func streamsOf(srv *server.Server) *server.Account {
	account, err := srv.LookupAccount(globalAccount)
	if err != nil {
		return nil
	}
	return account
}
