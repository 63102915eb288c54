package main

import (
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/wire"
	"stackagent/shadow/collect/bus"
)

// maxMessage bounds a message of a file of batches.
const maxMessage = 8 << 20

// record runs a JVM with the agent and writes the messages that it publishes, as they are, to a file.
func record(ctx context.Context, agent, out string, java []string) error {
	dir, err := os.MkdirTemp("", "fleetload")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := bus.Start(bus.Options{Listen: "127.0.0.1:0", StoreDir: dir, NoAuth: true})
	if err != nil {
		return err
	}
	defer b.Close()
	agent, err = filepath.Abs(agent)
	if err != nil {
		return err
	}
	option := fmt.Sprintf("-agentpath:%s=bus=%s,session=recorded", agent, b.ClientURL())
	jvm := exec.CommandContext(ctx, java[0], append([]string{option}, java[1:]...)...)
	jvm.Stdout, jvm.Stderr = os.Stderr, os.Stderr
	if err := jvm.Run(); err != nil {
		return fmt.Errorf("the JVM: %w", err)
	}
	stream, err := b.JetStream().Stream(ctx, bus.Stream)
	if err != nil {
		return err
	}
	info, err := stream.Info(ctx)
	if err != nil {
		return err
	}
	return write(ctx, stream, info.State, out)
}

func write(ctx context.Context, stream jetstream.Stream, state jetstream.StreamState, out string) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	for seq := state.FirstSeq; seq <= state.LastSeq && state.Msgs > 0; seq++ {
		m, err := stream.GetMsg(ctx, seq)
		if err != nil {
			return fmt.Errorf("message %d: %w", seq, err)
		}
		if err := binary.Write(z, binary.LittleEndian, uint32(len(m.Data))); err != nil {
			return err
		}
		if _, err := z.Write(m.Data); err != nil {
			return err
		}
	}
	return errors.Join(z.Close(), f.Sync())
}

// read decodes the batches of a file, in the order in which they were published.
func read(path string) (all []*wire.Batch, bytes int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	for {
		var n uint32
		if err := binary.Read(z, binary.LittleEndian, &n); errors.Is(err, io.EOF) {
			return all, bytes, nil
		} else if err != nil || n > maxMessage {
			return nil, 0, fmt.Errorf("%s: a message of %d bytes: %w", path, n, err)
		}
		data := make([]byte, n)
		if _, err := io.ReadFull(z, data); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", path, err)
		}
		b, err := wire.Decode(data, wire.DefaultLimits())
		if err != nil {
			return nil, 0, fmt.Errorf("%s: batch %d: %w", path, len(all)+1, err)
		}
		bytes += int(n)
		all = append(all, b)
	}
}

// noPID is beyond the greatest number of a process: nobody looks for this JVM's threads.
const noPID = 1 << 22

// as is a copy of a batch as JVM number i sends it, encoded. Only its envelope changes.
func as(b *wire.Batch, session, process string, started time.Time) ([]byte, error) {
	c := *b
	c.Session, c.Process = session, process
	if b.Hello != nil {
		h := *b.Hello
		h.PID, h.HostID, h.WallUnixNs = noPID, "", started.UnixNano()
		c.Hello = &h
	}
	return wire.Encode(&c, nil)
}
