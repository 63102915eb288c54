// Package settings has what the probes have to know of what the user asked for. The agent's options hold it, and the JVM's
// side takes it. It is declared in internal/schema.
package settings
