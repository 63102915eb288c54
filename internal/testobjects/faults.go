package testobjects

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
)

// Fault answers a request instead of the server, which is next.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Plan decides what goes wrong with a request: nil is nothing.
type Plan func(r *http.Request) Fault

// First makes the first n requests of a method go wrong.
func First(n int64, method string, wrong Fault) Plan {
	var seen atomic.Int64
	return func(r *http.Request) Fault {
		if r.Method == method && seen.Add(1) <= n {
			return wrong
		}
		return nil
	}
}

// Always makes all requests go wrong.
func Always(wrong Fault) Plan { return func(*http.Request) Fault { return wrong } }

// Answer is a status with or without an S3 code.
func Answer(status int, code string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		if code != "" {
			_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>made up\x1b[31m</Message></Error>", code)
		}
	}
}

// Refuse cuts the connection before anything is done.
func Refuse(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// Lose does what is asked and cuts the connection instead of answering.
func Lose(_ http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// Cut answers with half of the body.
func Cut(w http.ResponseWriter, r *http.Request, next http.Handler) {
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, r)
	for k, v := range rec.Header() {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Length", fmt.Sprint(rec.Body.Len()))
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes()[:rec.Body.Len()/2])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// Hang answers nothing until the client gives up.
func Hang(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}
