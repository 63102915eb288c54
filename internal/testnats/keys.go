package testnats

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// Secret writes a file of one line that only this user can read.
func Secret(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Certificate writes a certificate for 127.0.0.1 that is its own authority, for
// servers and clients, and its key.
func Certificate(t testing.TB) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
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
	encode := func(name, kind string, der []byte) string {
		return Secret(t, name, string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
	}
	return encode("cert.pem", "CERTIFICATE", der), encode("key.pem", "PRIVATE KEY", keyDER)
}

// NKey makes a user's NKEY: the file of its seed and the public key.
func NKey(t testing.TB) (seedFile, public string) {
	t.Helper()
	pair, seed := newKey(t, nkeys.CreateUser)
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return Secret(t, "user.nk", seed), public
}

func newKey(t testing.TB, create func() (nkeys.KeyPair, error)) (pair nkeys.KeyPair, seed string) {
	t.Helper()
	pair, err := create()
	if err != nil {
		t.Fatal(err)
	}
	b, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return pair, string(b)
}

// JWT makes an operator, an account with JetStream and a user of it: the
// configuration of servers that trust the operator, and the user's credentials file.
func JWT(t testing.TB) (config, credsFile string) {
	t.Helper()
	must := func(text string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	operator, _ := newKey(t, nkeys.CreateOperator)
	account, _ := newKey(t, nkeys.CreateAccount)
	system, _ := newKey(t, nkeys.CreateAccount)
	user, seed := newKey(t, nkeys.CreateUser)
	oc := jwt.NewOperatorClaims(must(operator.PublicKey()))
	oc.SystemAccount = must(system.PublicKey())
	ac := jwt.NewAccountClaims(must(account.PublicKey()))
	ac.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	sc := jwt.NewAccountClaims(must(system.PublicKey()))
	uc := jwt.NewUserClaims(must(user.PublicKey()))
	config = fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: {\n %s: %s\n %s: %s\n}\n",
		must(oc.Encode(operator)), oc.SystemAccount, must(account.PublicKey()), must(ac.Encode(operator)), oc.SystemAccount, must(sc.Encode(operator)))
	creds, err := jwt.FormatUserConfig(must(uc.Encode(account)), []byte(seed))
	return config, Secret(t, "user.creds", must(string(creds), err))
}
