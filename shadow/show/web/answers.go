package web

import (
	"context"
	"sync"
	"time"
)

// mostAnswers bounds the answers that are kept, mostAnswerBytes all of them together.
const (
	mostAnswers     = 64
	mostAnswerBytes = 16 << 20
)

// answers keeps answers for a while. Who asks what is being answered waits for that answer.
type answers struct {
	places chan struct{} // of questions that are being answered

	mu    sync.Mutex
	list  map[string]*kept
	bytes int
}

// kept is an answer, or the wait for one.
type kept struct {
	done    chan struct{}
	body    []byte
	err     error
	at      time.Time
	cancel  context.CancelFunc
	waiters int
}

func newAnswers() *answers {
	return &answers{places: make(chan struct{}, questionsAtOnce), list: map[string]*kept{}}
}

// get gives the answer of a key, and asks for it if there is none. Errors are not kept.
func (a *answers) get(ctx context.Context, key string, now func() time.Time, answer func(context.Context) ([]byte, error)) ([]byte, error) {
	a.mu.Lock()
	k := a.list[key]
	if k != nil && !k.at.IsZero() && now().Sub(k.at) >= answerKept {
		a.drop(key)
		k = nil
	}
	if k == nil {
		var own context.Context
		k = &kept{done: make(chan struct{})}
		own, k.cancel = context.WithTimeout(context.WithoutCancel(ctx), questionTime)
		a.list[key] = k
		go a.run(own, key, k, now, answer)
	}
	k.waiters++
	a.mu.Unlock()
	var err error
	select {
	case <-k.done:
		err = k.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if k.waiters--; k.waiters == 0 && k.at.IsZero() {
		k.cancel() // nobody waits any more
		if a.list[key] == k {
			delete(a.list, key)
		}
	}
	return k.body, err
}

func (a *answers) run(ctx context.Context, key string, k *kept, now func() time.Time, answer func(context.Context) ([]byte, error)) {
	defer k.cancel()
	var body []byte
	var err error
	select {
	case a.places <- struct{}{}:
		body, err = answer(ctx)
		<-a.places
	case <-ctx.Done():
		err = ctx.Err()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	defer close(k.done)
	if k.err = err; err != nil || len(body) > mostAnswerBytes {
		k.body = body
		if a.list[key] == k {
			delete(a.list, key)
		}
		return
	}
	k.body, k.at = body, now()
	if a.list[key] != k {
		return
	}
	a.bytes += len(body)
	for len(a.list) > mostAnswers || a.bytes > mostAnswerBytes {
		if !a.dropOldest(key) {
			return
		}
	}
}

func (a *answers) drop(key string) {
	a.bytes -= len(a.list[key].body)
	delete(a.list, key)
}

// dropOldest drops the oldest answer but one; false: there is none.
func (a *answers) dropOldest(but string) bool {
	oldest := ""
	for key, k := range a.list {
		if key != but && !k.at.IsZero() && (oldest == "" || k.at.Before(a.list[oldest].at)) {
			oldest = key
		}
	}
	if oldest == "" {
		return false
	}
	a.drop(oldest)
	return true
}
