package bus

import "github.com/nats-io/nats-server/v2/server"

// Activity changes when batches reach the embedded server or leave it, and when agents connect or disconnect. It is
// read from memory: the shadow looks many times a second and need not ask the stream.
type Activity struct {
	bytes   uint64 // that its streams hold
	clients int
}

// Activity returns the present state; false for a joined server, which has to be asked.
func (b *Bus) Activity() (Activity, bool) {
	if b.streams == nil {
		return Activity{}, false
	}
	return Activity{bytes: b.streams.JetStreamUsage().Store, clients: b.srv.NumClients()}, true
}

// Alone reports that no agent is connected, and no other shadow.
func (s Activity) Alone() bool { return s.clients <= 1 }

// Arrivals receives a value when a client connects to the embedded server; nil if that is unknown.
func (b *Bus) Arrivals() <-chan struct{} { return b.arrivals }

// streamsOf is the account of the streams; nil: there is none.
func streamsOf(srv *server.Server) *server.Account {
	account, err := srv.LookupAccount(globalAccount)
	if err != nil {
		return nil
	}
	return account
}
