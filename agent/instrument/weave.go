package instrument

import "stackagent/agent/classfile"

// Weave applies the plan and gives the new class file. It gives the same bytes
// each time. An error is a *Refusal.
func (p *Plan) Weave() ([]byte, error) {
	if p.woven != nil {
		return p.woven, nil
	}
	if p.failed != nil {
		return nil, p.failed
	}
	b, err := p.weave()
	if err != nil {
		p.failed = refusal(p.Class, err, ReasonSubroutine)
		return nil, p.failed
	}
	p.woven = b
	return b, nil
}

// SiteNumbers are the offsets in the woven class at which the numbers of sites are, two bytes each; false: some of
// them are elsewhere.
func (p *Plan) SiteNumbers() ([]int, bool) { return p.class.Marks(), !p.unmarked }

func (p *Plan) weave() ([]byte, error) {
	for _, name := range p.AddFields {
		if _, err := p.class.AddField(fieldAccess, name, "J"); err != nil {
			return nil, err
		}
	}
	if err := p.weaveCounts(); err != nil {
		return nil, err
	}
	for _, s := range p.steps {
		if err := s.weave(p); err != nil {
			return nil, err
		}
	}
	if err := p.finishCounts(); err != nil {
		return nil, err
	}
	return p.class.Write()
}

func grow(max *int, to int) {
	if *max < to {
		*max = to
	}
}

func isReal(in *classfile.Insn) bool { return !in.Op.IsPseudo() }

// insnSpan is a stretch of code, its first and last instruction.
type insnSpan struct{ from, to *classfile.Insn }

// labels is a range of code.
type labels struct{ start, end *classfile.Label }

// labelled puts labels around the spans. Inserted code moves instructions, not labels.
func labelled(code *classfile.Code, spans []insnSpan) []labels {
	ranges := make([]labels, len(spans))
	for i, s := range spans {
		ranges[i] = labels{code.LabelBefore(s.from), code.LabelAfter(s.to)}
	}
	return ranges
}

// throwable is the type of what a catch-all handler catches.
var throwable = []classfile.VerificationType{classfile.ObjectType("java/lang/Throwable")}

// handle adds a handler for all that the ranges throw: insns, athrow. The insns
// begin with those of p.rethrowing.
func (p *Plan) handle(code *classfile.Code, ranges []labels, locals []classfile.VerificationType, insns []*classfile.Insn) {
	handler := code.NewLabel()
	code.Append(handler.Insn())
	code.Append(insns...)
	code.Append(classfile.NewInsn(classfile.OpAthrow))
	code.SetFrame(handler, locals, throwable)
	for _, r := range ranges {
		code.AddHandler(r.start, r.end, handler, "")
	}
	p.caught = append(p.caught, code.Method())
}

// beforeReturns puts the call of a probe before every return and gives the ranges
// between the returns.
func (p *Plan) beforeReturns(code *classfile.Code, to probe, token int) ([]labels, error) {
	var ranges []labels
	var start *classfile.Label
	body := append([]*classfile.Insn(nil), code.Insns...)
	returns := false
	for i, in := range body {
		if !isReal(in) {
			continue
		}
		if start == nil {
			start = code.LabelBefore(in)
		}
		last := i == len(body)-1
		if in.Op.IsReturn() {
			returns = true
			exit, err := p.callWithToken(to, token)
			if err != nil {
				return nil, err
			}
			code.InsertBeforeTargeted(in, exit...)
			ranges = append(ranges, labels{start, code.LabelBefore(in)})
			start = nil
		} else if last {
			ranges = append(ranges, labels{start, code.LabelAfter(in)})
			start = nil
		}
	}
	if start != nil { // pseudo instructions at the end
		ranges = append(ranges, labels{start, code.LabelAfter(body[len(body)-1])})
	}
	if returns {
		code.MaxStack++ // the token on top of the result
	}
	return ranges, nil
}
