package serve

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ownStore makes the folder of the sessions. If it exists, nobody else may be able to create names in it: a link
// planted there would redirect what is stored.
func ownStore(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the store: %w; choose another --store", err)
	}
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return fmt.Errorf("reading the store %s: %w", dir, err)
	}
	switch owner := int(st.Uid); {
	case st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return fmt.Errorf("the store %s is not a folder; choose another --store", dir)
	case owner != os.Geteuid() && owner != 0:
		return fmt.Errorf("the store %s belongs to user %d, who could change what is stored; choose another --store", dir, owner)
	case st.Mode&unix.S_IWOTH != 0:
		return fmt.Errorf("every user can write to the store %s; choose a folder below it (shadow creates it with mode 0700), or run chmod o-w", dir)
	}
	return nil
}
