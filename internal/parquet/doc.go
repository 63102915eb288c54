// Package parquet reads Parquet files that may be damaged or forged, and writes
// small ones.
//
// The library believes the sizes that a file claims and allocates by them, and
// memory that cannot be had ends the process. So Footer and Pages check every
// claim against a limit before the library sees the file.
package parquet
