package tgp

import (
	"fmt"
	"io"
)

// ReadTasks reads tasks.csv, at most maxRows rows (0: DefaultMaxRows).
func ReadTasks(in io.Reader, file string, maxRows int) (*Trace, error) {
	p := &parser{reader: newReader(in, file), Collector: NewCollector(maxRows)}
	if err := p.header(Columns); err != nil {
		return nil, err
	}
	for {
		ok, err := p.next(numColumns)
		if err != nil {
			return nil, err
		}
		if !ok {
			return &p.Trace, nil
		}
		if len(p.Trace.Tasks) == p.maxRows {
			line, _ := p.csv.FieldPos(0)
			return nil, &FormatError{file, line, 0, fmt.Sprintf("more than %d rows: %v; raise the limit, or take fewer", p.maxRows, ErrTooLarge), ErrTooLarge}
		}
		r, err := p.task()
		if err != nil {
			return nil, err
		}
		if p.add(r); p.names() > maxNames {
			return nil, p.fail(0, "more than %d different names: %v", maxNames, ErrTooLarge)
		}
	}
}

// parser converts rows of the file.
type parser struct {
	*reader
	*Collector
}

func (p *parser) task() (t *Row, err error) {
	t = &Row{Class: p.name(colClass)}
	for _, n := range []struct {
		to    *int64
		field int
		least int64
	}{
		{&t.ID, colID, 0}, {&t.Outer, colOuter, None}, {&t.Execution, colExecution, None},
		{&t.Entry, colEntry, None}, {&t.Exit, colExit, None}, {&t.Granularity, colGranularity, None},
	} {
		if *n.to, err = p.number(n.field, "the column "+Columns[n.field], n.least); err != nil {
			return t, err
		}
	}
	if err := p.times(&t.Task); err != nil {
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
	if err := p.run(t); err != nil {
		return t, err
	}
	if t.Outer == None { // the scripts leave such a row out, even with times
		t.Entry, t.Exit, t.Runner = None, None, nil
	}
	return t, nil
}

// times rejects impossible times.
func (p *parser) times(t *Task) error {
	switch {
	case t.Entry > maxTime || t.Exit > maxTime:
		return p.fail(colEntry, "a time beyond %d ns", int64(maxTime))
	case t.Entry == None && t.Exit != None:
		return p.fail(colEntry, "the task ends at %d, but has not begun", t.Exit)
	case t.Exit != None && t.Exit < t.Entry:
		return p.fail(colExit, "the execution ends at %d, before its start at %d", t.Exit, t.Entry)
	case t.Outer != None && t.Entry == None:
		return p.fail(colOuter, "the task was not executed, yet has an outer task (%d); -1 is expected", t.Outer)
	case t.Outer != None && t.Execution < 1:
		return p.fail(colExecution, "execution %d of a task that was executed; a number from 1 is expected", t.Execution)
	}
	return nil
}

// run reads who created and ran the task.
func (p *parser) run(t *Row) (err error) {
	if t.Creator, err = p.thread(colCreator); err != nil {
		return err
	}
	if t.Runner, err = p.thread(colRunner); err != nil {
		return err
	}
	if (t.Runner == nil) != (t.Entry == None) {
		return p.fail(colRunner, "an execution has a thread, and a task never executed has none")
	}
	id, err := p.executorID()
	if err == nil && id != None {
		t.Executor = &Executor{ID: id, Class: p.name(colExecutorClass)}
	}
	return err
}

// executorID is None for a task that was not submitted. A trace may have a word for the id of one that was.
func (p *parser) executorID() (int64, error) {
	if word := p.row[colExecutor]; word != "" && word[0] >= 'a' && word[0] <= 'z' {
		return 0, nil
	}
	return p.number(colExecutor, "the column "+Columns[colExecutor], None)
}

// thread reads the three columns of a thread.
func (p *parser) thread(field int) (*Thread, error) {
	id, err := p.number(field, "the column "+Columns[field], None)
	if err != nil || id == None {
		return nil, err
	}
	return &Thread{ID: id, Class: p.name(field + 1), Name: p.name(field + 2)}, nil
}
