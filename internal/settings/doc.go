// Package settings holds the options that the probes depend on. package options embeds them, and jvmti copies them into C.
// They are declared in internal/schema.
package settings
