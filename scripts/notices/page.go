package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// vendored are the libraries of the page, as npm published them: the program embeds them in its pages.
const vendored = "shadow/show/page/front/vendor/*.tgz"

// pageLibraries lists them, with their licences.
func pageLibraries(root string) ([]*module, error) {
	files, err := filepath.Glob(filepath.Join(root, vendored))
	if err != nil {
		return nil, err
	}
	var all []*module
	for _, file := range files {
		m, err := npmPackage(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *module) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// npmPackage reads name, version and licences from a package's archive.
func npmPackage(file string) (*module, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	m := &module{root: file, in: []string{"shadow (pages)"}, texts: map[string]string{}}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return m, m.identify()
		}
		if err != nil {
			return nil, err
		}
		if err := m.addNPM(path.Base(h.Name), r, strings.Count(h.Name, "/") == 1); err != nil {
			return nil, fmt.Errorf("%s: %w", h.Name, err)
		}
	}
}

// addNPM takes what matters from a file of a package; the package's own are at its top.
func (m *module) addNPM(name string, r io.Reader, top bool) error {
	switch {
	case top && name == "package.json":
		var p struct{ Name, Version string }
		if err := json.NewDecoder(r).Decode(&p); err != nil {
			return err
		}
		m.path, m.version = p.Name, p.Version
	case top && noticeFile.MatchString(name):
		b, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		m.texts[name] = clean(b)
	}
	return nil
}
