package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// marks are phrases by which a licence is known.
var marks = []struct{ id, phrase string }{
	{"Apache-2.0", "Apache License Version 2.0, January 2004"},
	{"BSD-3-Clause", "may be used to endorse or promote products derived"},
	{"BSD-2-Clause", "Redistribution and use in source and binary forms"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy of this software"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted"},
	{"BSL-1.0", "Boost Software License - Version 1.0"},
	{"CC-BY-4.0", "Creative Commons Attribution 4.0 International Public License"},
	{"FTL", "The FreeType Project LICENSE"},
	{"OFL-1.1", "SIL OPEN FONT LICENSE Version 1.1"},
}

// refused are phrases of licences that a binary of this project must not link.
var refused = []string{"GNU GENERAL PUBLIC LICENSE", "GNU LESSER GENERAL PUBLIC", "GNU AFFERO", "Mozilla Public License", "Business Source License"}

// chosen are licences where a module gives the choice, with the file that holds the text.
var chosen = map[string]struct{ id, file string }{
	"github.com/golang/freetype": {"FTL", "licenses/ftl.txt"},
}

// extraFolders of a module hold the licences of what it took over.
const extraFolder = "THIRD_PARTY_LICENSES"

// noticeFile matches files that a distribution has to pass on.
var noticeFile = regexp.MustCompile(`(?i)^(licen[cs]e|notice|copying|copyright|patents)`)

// collect reads the texts of a module's linked packages and of the folders above them.
func (m *module) collect() error {
	m.texts = map[string]string{}
	folders := map[string]bool{}
	for dir := range m.dirs {
		for {
			folders[dir] = true
			if dir == m.root || len(dir) <= len(m.root) {
				break
			}
			dir = filepath.Dir(dir)
		}
	}
	for dir := range folders {
		if err := m.read(dir, noticeFile.MatchString); err != nil {
			return err
		}
	}
	err := m.read(filepath.Join(m.root, extraFolder), func(string) bool { return true })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return m.identify()
}

func (m *module) read(dir string, wanted func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !wanted(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		if err := m.add(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (m *module) add(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name, err := filepath.Rel(m.root, path)
	if err != nil {
		return err
	}
	m.texts[filepath.ToSlash(name)] = clean(b)
	return nil
}

// clean is a licence's text as it is written here.
func clean(b []byte) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(string(b), "?"), "\r\n", "\n"))
}

// identify names the licences of the module, or fails.
func (m *module) identify() error {
	if c, ok := chosen[m.path]; ok {
		m.licences = []string{c.id}
		return m.add(filepath.Join(m.root, c.file))
	}
	for _, name := range slices.Sorted(maps.Keys(m.texts)) {
		for _, id := range known(m.texts[name]) {
			if !slices.Contains(m.licences, id) {
				m.licences = append(m.licences, id)
			}
		}
		for _, phrase := range refused {
			if strings.Contains(flat(m.texts[name]), flat(phrase)) {
				return fmt.Errorf("%s: %s has %q: this project does not link it", m.path, name, phrase)
			}
		}
	}
	if len(m.licences) == 0 {
		return fmt.Errorf("%s in %s has no licence that is known here: look at it, then add its mark to scripts/notices/licences.go", m.path, m.root)
	}
	slices.Sort(m.licences)
	return nil
}

// known lists the licences in a text.
func known(text string) (ids []string) {
	text = flat(text)
	for _, k := range marks {
		if k.id == "BSD-2-Clause" && slices.Contains(ids, "BSD-3-Clause") {
			continue
		}
		if strings.Contains(text, flat(k.phrase)) {
			ids = append(ids, k.id)
		}
	}
	return ids
}

var blanks = regexp.MustCompile(`[\s,]+`)

// flat makes texts comparable that are wrapped differently.
func flat(text string) string { return strings.ToLower(blanks.ReplaceAllString(text, " ")) }
