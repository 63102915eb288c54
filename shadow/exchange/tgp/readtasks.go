package tgp

import (
	"fmt"
	"io"

	"stackagent/granularity/tgp"
)

// ReadTasks reads tasks.csv, at most maxRows rows (0: DefaultMaxRows).
func ReadTasks(in io.Reader, file string, maxRows int) (*tgp.Trace, error) {
	if maxRows <= 0 {
		maxRows = DefaultMaxRows
	}
	p := &parser{reader: newReader(in, file), classes: map[string]int32{}, threads: map[tgp.Thread]int32{}, executors: map[tgp.Executor]int32{}}
	if err := p.header(Columns); err != nil {
		return nil, err
	}
	for {
		ok, err := p.next(numColumns)
		if err != nil {
			return nil, err
		}
		if !ok {
			return &p.trace, nil
		}
		if len(p.trace.Tasks) == maxRows {
			line, _ := p.csv.FieldPos(0)
			return nil, &FormatError{file, line, 0, fmt.Sprintf("more than %d rows: %v; raise the limit, or take fewer", maxRows, ErrTooLarge), ErrTooLarge}
		}
		t, err := p.task()
		if err != nil {
			return nil, err
		}
		p.trace.Tasks = append(p.trace.Tasks, t)
	}
}

// parser converts rows to tasks and keeps each name once.
type parser struct {
	*reader
	trace     tgp.Trace
	classes   map[string]int32
	threads   map[tgp.Thread]int32
	executors map[tgp.Executor]int32
}

func (p *parser) task() (t tgp.Task, err error) {
	for _, n := range []struct {
		to    *int64
		field int
		least int64
	}{
		{&t.ID, colID, 0}, {&t.Outer, colOuter, tgp.None}, {&t.Execution, colExecution, tgp.None},
		{&t.Entry, colEntry, tgp.None}, {&t.Exit, colExit, tgp.None}, {&t.Granularity, colGranularity, tgp.None},
	} {
		if *n.to, err = p.number(n.field, "the column "+Columns[n.field], n.least); err != nil {
			return t, err
		}
	}
	if err := p.times(&t); err != nil {
		return t, err
	}
	for i := colFlags; i < numColumns; i++ {
		switch p.row[i] {
		case "T", "t":
			t.Flags |= 1 << (i - colFlags)
		case "F", "f":
		default:
			return t, p.fail(i, "the column %s is %.40q; T or F is expected", Columns[i], p.row[i])
		}
	}
	if err := p.names(&t); err != nil {
		return t, err
	}
	if t.Outer == tgp.None { // the scripts leave such a row out, even with times
		t.Entry, t.Exit, t.Runner = tgp.None, tgp.None, tgp.None
	}
	return t, nil
}

// times rejects impossible times.
func (p *parser) times(t *tgp.Task) error {
	switch {
	case t.Entry > maxTime || t.Exit > maxTime:
		return p.fail(colEntry, "a time beyond %d ns", int64(maxTime))
	case t.Entry == tgp.None && t.Exit != tgp.None:
		return p.fail(colEntry, "the task ends at %d, but has not begun", t.Exit)
	case t.Exit != tgp.None && t.Exit < t.Entry:
		return p.fail(colExit, "the execution ends at %d, before its start at %d", t.Exit, t.Entry)
	case t.Outer != tgp.None && t.Entry == tgp.None:
		return p.fail(colOuter, "the task was not executed, yet has an outer task (%d); -1 is expected", t.Outer)
	case t.Outer != tgp.None && t.Execution < 1:
		return p.fail(colExecution, "execution %d of a task that was executed; a number from 1 is expected", t.Execution)
	}
	return nil
}

func (p *parser) names(t *tgp.Task) (err error) {
	if t.Class, err = intern(p, p.classes, &p.trace.Classes, p.name(colClass), colClass); err != nil {
		return err
	}
	if t.Creator, err = p.thread(colCreator); err != nil {
		return err
	}
	if t.Runner, err = p.thread(colRunner); err != nil {
		return err
	}
	if (t.Runner == tgp.None) != (t.Entry == tgp.None) {
		return p.fail(colRunner, "an execution has a thread, and a task never executed has none")
	}
	id, err := p.executorID()
	if t.Executor = tgp.None; err != nil || id == tgp.None {
		return err
	}
	t.Executor, err = intern(p, p.executors, &p.trace.Executors, tgp.Executor{ID: id, Class: p.name(colExecutorClass)}, colExecutor)
	return err
}

// executorID is None for a task that was not submitted. A trace may have a word for the id of one that was.
func (p *parser) executorID() (int64, error) {
	if word := p.row[colExecutor]; word != "" && word[0] >= 'a' && word[0] <= 'z' {
		return 0, nil
	}
	return p.number(colExecutor, "the column "+Columns[colExecutor], tgp.None)
}

// thread reads the three columns of a thread.
func (p *parser) thread(field int) (int32, error) {
	id, err := p.number(field, "the column "+Columns[field], tgp.None)
	if err != nil || id == tgp.None {
		return tgp.None, err
	}
	return intern(p, p.threads, &p.trace.Threads, tgp.Thread{ID: id, Class: p.name(field + 1), Name: p.name(field + 2)}, field)
}

// intern returns the index of a name in the list and adds it if it is new.
func intern[K comparable](p *parser, known map[K]int32, list *[]K, name K, field int) (int32, error) {
	if i, ok := known[name]; ok {
		return i, nil
	}
	if len(*list) == maxNames {
		return 0, p.fail(field, "more than %d different names: %v", maxNames, ErrTooLarge)
	}
	i := int32(len(*list))
	known[name] = i
	*list = append(*list, name)
	return i, nil
}
