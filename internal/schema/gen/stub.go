package main

func addPages(root string, files map[string][]byte) error { return nil }
