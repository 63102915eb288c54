package objectstore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// The first elements of the keys in a fleet's store.
const (
	SessionsPrefix = "sessions/"
	RollupsPrefix  = "rollups/"
)

// UnknownService stands in keys for sessions that name no service.
const UnknownService = "unknown"

// Partition is the part of a key that SQL engines take for the columns date and service: date=2026-01-31/service=orders/.
func Partition(day time.Time, service string) string {
	return fmt.Sprintf("date=%s/service=%s/", day.UTC().Format(time.DateOnly), SafeName(service))
}

// SessionPrefix begins the keys of a session's files.
func SessionPrefix(started time.Time, service, folder string) string {
	return SessionsPrefix + Partition(started, service) + "session=" + SafeName(folder) + "/"
}

// maxSafe bounds the names in keys.
const maxSafe = 128

// SafeName is a name as it stands in keys. Names that consist of letters, digits, '.', '_' and '-' stay; in others the
// rest is replaced, and a part of their checksum tells them apart.
func SafeName(name string) string {
	if name == "" {
		return UnknownService
	}
	safe := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)) {
			return r
		}
		return '_'
	}, name)
	if safe == name && len(name) <= maxSafe && strings.Trim(name, ".") != "" && name != UnknownService {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return safe[:min(len(safe), maxSafe)] + "_" + hex.EncodeToString(sum[:6])
}
