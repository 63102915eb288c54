// Command notices writes THIRD_PARTY_NOTICES: the licences of all modules that
// the shadow and the agent library link, and of the page's libraries. It refuses a licence it does not know.
//
//	go run ./scripts/notices
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// noticesFile stands at the root of the tree, which embeds it.
const noticesFile = "THIRD_PARTY_NOTICES"

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	text, err := generate(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, noticesFile), text, 0o644)
}

// generate is the content of the file for the tree in root.
func generate(root string) ([]byte, error) {
	modules, err := linked(root)
	if err != nil {
		return nil, err
	}
	for _, m := range modules {
		if err := m.collect(); err != nil {
			return nil, err
		}
	}
	libraries, err := pageLibraries(root)
	if err != nil {
		return nil, err
	}
	return render(append(modules, libraries...)), nil
}
