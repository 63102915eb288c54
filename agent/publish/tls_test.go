package publish

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// selfSigned writes a certificate for 127.0.0.1, its own authority, and its key.
func selfSigned(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pool = x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(parsed)
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", keyDER), pool
}

// A server that wants the client's certificate: with it the connection is
// made, without it or without the authority it is not.
func TestTLS(t *testing.T) {
	cert, key, pool := selfSigned(t)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	b := startBus(t, server.Options{TLS: true, TLSVerify: true, TLSTimeout: 5, TLSConfig: &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}})
	for name, c := range map[string]struct {
		auth Auth
		ok   bool
	}{
		"both":           {Auth{TLSCA: cert, TLSCert: cert, TLSKey: key}, true},
		"no certificate": {Auth{TLSCA: cert}, false},
		"no authority":   {Auth{TLSCert: cert, TLSKey: key}, false},
	} {
		t.Run(name, func(t *testing.T) {
			before := b.NumClients()
			p, n := publisher(t, Config{URL: b.url, Auth: c.auth})
			if c.ok {
				until(t, "a connection", func() bool { return b.NumClients() > before })
				return
			}
			until(t, "a notice", func() bool { return len(n.all()) == 1 && p.Away() })
		})
	}
}

// The agent runs inside the program's JVM: a handful of goroutines.
func TestFewGoroutines(t *testing.T) {
	b := startBus(t, server.Options{})
	b.stream(t)
	run := func() int {
		before := runtime.NumGoroutine()
		p, _ := publisher(t, Config{URL: b.url})
		offer(t, p, 1, 50, 1000)
		flush(t, p)
		return runtime.NumGoroutine() - before
	}
	// The server in this process has a few for the client, too.
	if n := run(); n > 14 {
		t.Errorf("%d goroutines more with a publisher", n)
	} else {
		t.Logf("%d goroutines, those of the server for this client included", n)
	}
}

func BenchmarkPublish(b *testing.B) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, JetStream: true, StoreDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	go s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(time.Minute) {
		b.Fatal("the server does not start")
	}
	makeStream(b, s.ClientURL(), "")
	p, err := New(Config{URL: s.ClientURL(), Session: "s1"})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	const size = 160 << 10
	b.SetBytes(size)
	seq := uint64(0)
	for b.Loop() {
		seq++
		if err := p.Room(b.Context(), size); err != nil {
			b.Fatal(err)
		}
		if err := p.Offer(seq, make([]byte, size), false); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := p.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
}
