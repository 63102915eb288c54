package suite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// What Prepare finds in its environment, and where folders are kept.
const (
	nameVariable   = "SUITE_NAME"
	folderVariable = "SUITE_FOLDER"
	cacheVariable  = "SUITE_CACHE" // in place of the user's cache folder
)

// Files in a program's folder that are not the program's.
const (
	stampFile = ".prepared"
	lockFile  = ".lock"
)

// Folder is the folder of the program, whether it is filled or not.
func (p *Program) Folder() (string, error) {
	cache := os.Getenv(cacheVariable)
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no folder for what the suite fetches: %w; set %s", err, cacheVariable)
		}
		cache = filepath.Join(user, "stackagent", "suite")
	}
	return filepath.Abs(filepath.Join(cache, p.Name))
}

// Ready fills the program's folder, unless that is done, and returns it. It is filled anew when the command that does it changes or
// a file in one of these folders beside the YAML file: that of the script, the one that has the program's name, and common.
func (p *Program) Ready(ctx context.Context) (folder string, err error) {
	if folder, err = p.Folder(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("preparing %s: %w", p.Name, err)
	}
	if len(p.Prepare) == 0 {
		return folder, nil
	}
	unlock, err := lock(ctx, filepath.Join(folder, lockFile))
	if err != nil {
		return "", fmt.Errorf("preparing %s: %w", p.Name, err)
	}
	defer unlock()
	stamp, err := p.stamp()
	if err != nil {
		return "", fmt.Errorf("preparing %s: %w", p.Name, err)
	}
	at := filepath.Join(folder, stampFile)
	if old, err := os.ReadFile(at); err == nil && string(old) == stamp {
		return folder, nil
	}
	if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("preparing %s: %w", p.Name, err)
	}
	if err := p.prepare(ctx, folder); err != nil {
		return "", err
	}
	return folder, os.WriteFile(at, []byte(stamp), 0o644)
}

// lock waits until no other process fills the folder.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			f.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// prepare runs the command. Its output is shown only if it fails.
func (p *Program) prepare(ctx context.Context, folder string) error {
	var args []string
	for _, a := range p.Prepare {
		args = append(args, replace(a, map[string]string{"folder": folder, "name": p.Name}))
	}
	if strings.Contains(args[0], "/") && !filepath.IsAbs(args[0]) {
		args[0] = filepath.Join(p.Dir, args[0])
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = p.Dir
	cmd.Env = append(os.Environ(), nameVariable+"="+p.Name, folderVariable+"="+folder)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	// What the script started must not outlive it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("preparing %s: %w\n%s", p.Name, err, tail(out.Bytes()))
	}
	return nil
}

// tail is the end of an output.
func tail(out []byte) string {
	const most = 4096
	if len(out) > most {
		out = out[len(out)-most:]
	}
	return strings.ToValidUTF8(strings.TrimSpace(string(out)), "?")
}

// Limits on what is read to see whether a program has changed.
const (
	maxFiles     = 1000
	maxFileBytes = 16 << 20
)

// stamp changes when something that prepare: reads changes.
func (p *Program) stamp() (string, error) {
	files, err := p.sources()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, a := range p.Prepare {
		fmt.Fprintf(h, "%q\n", a)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%q\n", strings.TrimPrefix(name, p.Dir))
		_, err = io.Copy(h, io.LimitReader(f, maxFileBytes))
		f.Close()
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", name, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// commonFolder beside the YAML file has what several programs share.
const commonFolder = "common"

// sources are the files of the suite that may end up in the program's folder: the script, all in the folder of the script, in the one
// with the program's name and in common.
func (p *Program) sources() (files []string, err error) {
	folders := []string{commonFolder, p.Name}
	if script := p.Prepare[0]; filepath.IsLocal(script) {
		if folder := filepath.Dir(script); folder != "." {
			folders = append(folders, folder)
		} else if s, err := os.Stat(filepath.Join(p.Dir, script)); err == nil && s.Mode().IsRegular() {
			files = append(files, filepath.Join(p.Dir, script))
		}
	}
	slices.Sort(folders)
	for _, folder := range slices.Compact(folders) {
		found, err := filesIn(filepath.Join(p.Dir, folder))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

// filesIn lists a folder in a fixed order; one that does not exist has no files.
func filesIn(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.Type().IsRegular():
			files = append(files, path)
		}
		if len(files) > maxFiles {
			return fmt.Errorf("%s has more than %d files", folder, maxFiles)
		}
		return nil
	})
	return files, err
}
