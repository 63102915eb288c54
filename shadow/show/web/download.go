package web

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"strings"
	"time"
)

const (
	maxDownloads = 4
	// stallTime is how long a client may take for downloadChunk.
	stallTime     = 30 * time.Second
	downloadChunk = 1 << 20
)

// download sends the folder of an ended session as a tar file.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	x, ok := s.find(w, r)
	if !ok {
		return
	}
	if x.Running {
		plain(w, http.StatusConflict, "this session is still being recorded; it can be downloaded when it has ended")
		return
	}
	select {
	case s.downloads <- struct{}{}:
		defer func() { <-s.downloads }()
	default:
		busy(w, "too many downloads at once; try again in a moment")
		return
	}
	err := s.inStore(func(root *os.Root) error {
		session, err := root.OpenRoot(x.ID)
		if err != nil {
			return fmt.Errorf("opening the session: %w", err)
		}
		defer session.Close()
		w.Header().Set("Content-Type", "application/x-tar")
		w.Header().Set("Content-Disposition", attachment(x.ID+".tar"))
		if r.Method == http.MethodHead {
			return nil
		}
		return writeTar(&slowWriter{w: w, end: http.NewResponseController(w)}, session, x.ID)
	})
	if err != nil && r.Context().Err() == nil {
		s.o.Note("download of %s: %v", x.ID, err)
		panic(http.ErrAbortHandler) // a file that is cut off must not look whole
	}
}

// slowWriter writes to a client that may be slow, but not silent.
type slowWriter struct {
	w    io.Writer
	end  *http.ResponseController
	left int // until the time is extended
}

func (s *slowWriter) Write(b []byte) (int, error) {
	if s.left -= len(b); s.left <= 0 {
		s.left = downloadChunk
		_ = s.end.SetWriteDeadline(time.Now().Add(stallTime)) // a recorder in a test has none
	}
	return s.w.Write(b)
}

// writeTar writes the files of a session, without what is made from them.
func writeTar(w io.Writer, session *os.Root, folder string) error {
	out := tar.NewWriter(w)
	err := fs.WalkDir(session.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") || made(name) {
			return nil
		}
		return addFile(out, session, name, path.Join(folder, name))
	})
	return errors.Join(err, out.Close())
}

func addFile(out *tar.Writer, session *os.Root, name, as string) error {
	f, err := session.OpenFile(name, reading, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // merged parts go
	}
	if err != nil {
		return fmt.Errorf("opening %s: %w", name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return errors.Join(fmt.Errorf("%s is no file any more", name), err)
	}
	err = out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: as, Size: info.Size(), Mode: 0o600, ModTime: info.ModTime(), Format: tar.FormatPAX})
	if err == nil {
		_, err = io.CopyN(out, f, info.Size())
	}
	if err != nil {
		return fmt.Errorf("sending %s: %w", name, err)
	}
	return nil
}

// made reports whether a file of a session's folder is made from the others.
func made(name string) bool {
	return name == DataName || name == FileName
}

// attachment has the browser save an answer under a name.
func attachment(name string) string {
	return mime.FormatMediaType("attachment", map[string]string{"filename": name})
}
