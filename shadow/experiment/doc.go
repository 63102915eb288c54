// Package experiment runs a command many times while a few things about it vary, and keeps what came of
// it. An experiment is a folder: the plan, one folder a run, and the results as JSON and Parquet.
//
// Runs happen one at a time. Each invocation is a block in which every point of the plan has one run, in
// random order, so that a machine that grows slower with time does so for all points alike (randomised
// complete blocks). A run that fails is a result. A run during which other programs were busy is repeated,
// and marked if that does not help. Whatever ended the experiment, it goes on where it was when it is
// opened again with the same plan, or with one that asks for more.
package experiment
