package tool

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"stackagent/scripts/bench/measure"
)

// The version of async-profiler that the bench fetches, and the SHA-256 of its jar.
const (
	asyncProfilerVersion = "4.5"
	asyncProfilerSum     = "d0184907de67ca63363f1a6333c75eb7414fb3e13c564641304fe0fdca97363e"
)

// asyncProfilerVariable names another library to use.
const asyncProfilerVariable = "ASYNC_PROFILER"

// AsyncProfiler is async-profiler tracing the program's methods. Maven fetches it from Maven Central the first time.
func AsyncProfiler(ctx context.Context, java string) (Tool, error) {
	library, err := asyncProfilerLibrary(ctx)
	if err != nil {
		return Tool{}, err
	}
	// It prints "4.5 " and continues.
	said, err := measure.Run(ctx, measure.Command{Args: []string{java, "-agentpath:" + library + "=version", "-version"}})
	if err != nil {
		return Tool{}, err
	}
	version, _, _ := strings.Cut(said.Stdout, " ")
	return Tool{
		Name:     "async-profiler " + version + " trace",
		ByMethod: true,
		Recorded: countTrace,
		Run: func(ctx context.Context, p Program, scratch string) (Run, error) {
			file := filepath.Join(scratch, "recording.jfr")
			options := "start,jfr,file=" + file
			for _, m := range p.Methods {
				options += ",trace=" + strings.Replace(m, "::", ".", 1)
			}
			r, err := direct(ctx, p, "-agentpath:"+library+"="+options)
			r.Files = file
			return r, err
		},
	}, nil
}

// asyncProfilerLibrary is the library in the user's cache, of the pinned version.
func asyncProfilerLibrary(ctx context.Context) (string, error) {
	if library := os.Getenv(asyncProfilerVariable); library != "" {
		return library, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("a folder for async-profiler: %w", err)
	}
	dir := filepath.Join(cache, "stackagent", "bench", "async-profiler-"+asyncProfilerVersion)
	jar, library := filepath.Join(dir, "async-profiler-"+asyncProfilerVersion+".jar"), filepath.Join(dir, "libasyncProfiler.so")
	if _, err := os.Stat(jar); err != nil {
		fetch := []string{"mvn", "-q", "-B", "dependency:copy", "-Dartifact=tools.profiler:async-profiler:" + asyncProfilerVersion, "-DoutputDirectory=" + dir}
		if _, err := measure.Run(ctx, measure.Command{Args: fetch}); err != nil {
			return "", fmt.Errorf("fetching async-profiler: %w", err)
		}
	}
	b, err := os.ReadFile(jar)
	if err != nil {
		return "", fmt.Errorf("async-profiler: %w", err)
	}
	if b, err = libraryIn(b, asyncProfilerSum, runtime.GOARCH); err == nil {
		err = os.WriteFile(library, b, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", jar, err)
	}
	return library, nil
}

// libraryIn takes the library for an architecture out of a jar whose SHA-256 must be sum.
func libraryIn(jar []byte, sum, arch string) ([]byte, error) {
	if got := sha256.Sum256(jar); hex.EncodeToString(got[:]) != sum {
		return nil, fmt.Errorf("its SHA-256 is %x, want %s: delete it, and it is fetched again", got, sum)
	}
	if arch == "amd64" {
		arch = "x64"
	}
	files, err := zip.NewReader(bytes.NewReader(jar), int64(len(jar)))
	if err != nil {
		return nil, err
	}
	f, err := files.Open("linux-" + arch + "/libasyncProfiler.so")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
