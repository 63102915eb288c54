package web

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// Certificate returns a server configuration with the certificate and key of two PEM
// files. Changed files are read again, since certificates are renewed; if they cannot
// be read, the old pair stays.
func Certificate(certFile, keyFile string) (*tls.Config, error) {
	k := &keyPair{cert: certFile, key: keyFile}
	if _, err := k.get(nil); err != nil {
		return nil, fmt.Errorf("certificate of the live page: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: k.get, NextProtos: []string{"http/1.1"}}, nil
}

type keyPair struct {
	cert, key string

	mu   sync.Mutex
	read time.Time // the newer of the files' times when they were last read
	pair *tls.Certificate
}

func (k *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	newest, err := k.changed()
	if err == nil && newest.Equal(k.read) && k.pair != nil {
		return k.pair, nil
	}
	if err == nil {
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(k.cert, k.key); err == nil {
			k.pair, k.read = &pair, newest
			return k.pair, nil
		}
	}
	if k.pair != nil {
		return k.pair, nil
	}
	return nil, err
}

func (k *keyPair) changed() (newest time.Time, err error) {
	for _, path := range []string{k.cert, k.key} {
		info, err := os.Stat(path)
		if err != nil {
			return newest, err
		}
		if info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return newest, nil
}
