package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// TestFresh fails when a dependency has changed since THIRD_PARTY_NOTICES was written.
func TestFresh(t *testing.T) {
	want, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, noticesFile))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is stale (%v): run go run ./scripts/notices", noticesFile, err)
	}
}

func TestIdentify(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n  Version 2.0, January 2004":                                                                             "Apache-2.0",
		"Permission is hereby granted, free of charge, to any person\nobtaining a copy of this software":                          "MIT",
		"Redistribution and use in source and binary forms ... to\nendorse or promote products derived from":                      "BSD-2-Clause",
		"Redistribution and use in source and binary forms ... may be used to\nendorse or promote products derived from":          "BSD-3-Clause",
		"Permission to use, copy, modify, and/or distribute this software for any\npurpose with or without fee is hereby granted": "ISC",
		"SIL OPEN FONT LICENSE Version 1.1": "OFL-1.1",
		"You may look at it.":               "",
	} {
		if got := strings.Join(known(text), " AND "); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"unknown": "You may look at it.",
		"none":    "",
		"GPL":     "Apache License Version 2.0, January 2004, or the\nGNU General\nPublic License",
	} {
		dir := t.TempDir()
		if text != "" {
			if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		m := &module{path: "example.com/x", root: dir, dirs: map[string]bool{dir: true}}
		if err := m.collect(); err == nil || !strings.Contains(err.Error(), "example.com/x") {
			t.Errorf("%s: %v, licences %v", name, err, m.licences)
		}
	}
}

// The bundle has the licence of what npm published, of that version.
func TestPageLibraries(t *testing.T) {
	libraries, err := pageLibraries(root)
	if err != nil || len(libraries) == 0 {
		t.Fatalf("%d libraries (%v)", len(libraries), err)
	}
	bundle, err := os.ReadFile(filepath.Join(root, "shadow/show/page/dist/page.js"))
	if err != nil {
		t.Fatal(err)
	}
	var bundled []string
	for _, m := range libraries {
		if !bytes.Contains(bundle, []byte(m.path+" "+m.version)) {
			continue // another one needs it, for what the page does not use
		}
		bundled = append(bundled, m.path)
		for name, text := range m.texts {
			if !bytes.Contains(bundle, []byte(text)) {
				t.Errorf("page.js has not %s of %s", name, m.path)
			}
		}
	}
	if !slices.Contains(bundled, "uplot") || !slices.Contains(bundled, "d3-flame-graph") {
		t.Errorf("page.js has of the vendored libraries only %v", bundled)
	}
}

// Texts of the folders between a linked package and the module's root are collected, others are not.
func TestCollect(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"LICENSE":               "Permission is hereby granted, free of charge, to any person obtaining a copy of this software",
		"a/b/NOTICE":            "b",
		"a/COPYING":             "a",
		"other/LICENSE":         "GNU GENERAL PUBLIC LICENSE",
		"a/b/license.go":        "package b",
		extraFolder + "/x.text": "x",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m := &module{path: "example.com/x", root: dir, dirs: map[string]bool{filepath.Join(dir, "a/b"): true}}
	if err := m.collect(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"LICENSE", "a/b/NOTICE", "a/COPYING", extraFolder + "/x.text"} {
		if m.texts[name] == "" {
			t.Errorf("%s is missing: %v", name, m.texts)
		}
	}
	if len(m.texts) != 4 || strings.Join(m.licences, " ") != "MIT" {
		t.Errorf("texts %v, licences %v", m.texts, m.licences)
	}
}
