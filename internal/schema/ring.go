package schema

// Records that are only in the ring: what they say becomes part of others.
var (
	padding = Record{Ring: Ring{Type: "SA_REC_PAD", Number: 0, Note: "unused rest of the ring; skip one slot"}}

	threadSwitch = Record{
		Name: "ThreadSwitch", Doc: "ThreadSwitch says whose the later records of the ring are.",
		Ring:   Ring{Struct: "sa_thread_switch", Type: "SA_REC_THREAD", Number: 3, Slots: 1, Note: "later records of this ring belong to it"},
		Fields: []Field{{Name: "Thread", Type: "uint32", Ring: Slot{At: 4, Type: "uint32_t", Name: "thread_id", Doc: "wire.Thread.ID"}}},
	}
	queued = Record{
		Name: "Queue", Doc: "Queue says when the task of the execution that follows in this ring was submitted.",
		Ring: Ring{Struct: "sa_queue", Type: "SA_REC_QUEUE", Number: 11, Slots: 1, Note: "belongs to the execution that follows in this ring"},
		Fields: []Field{
			{Name: "TaskID", Type: "uint64", Ring: Slot{At: 8, Type: "uint64_t", Name: "task_id", Doc: "of the execution"}},
			{Name: "Submitted", Type: "units.Ticks", Ring: Slot{At: 16, Type: "uint64_t", Name: "submitted_ticks"}},
			{Name: "Due", Type: "units.Ticks", Ring: Slot{At: 24, Type: "uint64_t", Name: "due_ticks", Doc: "0: at once"}},
		},
	}
)

// Records are all of them, in the order of the format pages.
var Records = []*Record{
	&padding, &execution, &creation, &threadSwitch, &pause, &construction, &submission, &queued, &virtualThread, &wait, &taskTrace,
	&executor, &siteRecord, &frame, &context, &contextSum, &classRecord, &threadRecord, &osThread, &summary, &measure, &bucket, &siteSum, &waitSum, &blocker,
	&insideMonitor, &insideSample, &clockPair, &refusal, &loss, &threadLoss, &extra,
}
