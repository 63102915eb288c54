package instrument

import "stackagent/agent/classfile"

// The probes of constructions, of java.lang.StackagentConstruction.
const (
	probeConstructing = "constructing" // at the start of a constructor, gives a token
	probeDelegating   = "delegating"   // before this(...)
	probeConstructed  = "constructed"  // before a return

	descConstructing = "()I"
	descConstructed  = "(Ljava/lang/Object;ILjava/lang/Class;)V"
)

// ldcClass is the first version of class files in which a constant can be a class.
const ldcClass = 49

// constructionProbes are the probes of java.lang.StackagentConstruction.
var constructionProbes = map[string]bool{probeConstructing: true, probeDelegating: true, probeConstructed: true}

// planConstruction notes where a constructor calls this(...), and where it
// returns with its object still at hand.
func (c *ConstructorPlan) planConstruction(code *classfile.Code, flow *thisFlow) {
	c.measured = true
	for _, call := range flow.inits {
		if !call.super {
			c.delegations = append(c.delegations, code.Insns[call.at])
		}
	}
	for i, in := range code.Insns {
		if in.Op.IsReturn() && flow.local0[i] == cellSelf {
			c.ends = append(c.ends, in)
		}
	}
}

// weaveConstruction puts the probes of a construction into a constructor.
func (p *Plan) weaveConstruction(c ConstructorPlan, code *classfile.Code) error {
	begin, err := p.probe(probeConstructing, descConstructing)
	if err != nil {
		return err
	}
	class, err := p.class.Pool.AddClass(p.Class)
	if err != nil {
		return err
	}
	token := code.AddIntLocal()
	for _, call := range c.delegations {
		delegating, err := p.callWithToken(probeDelegating, token)
		if err != nil {
			return err
		}
		code.InsertBeforeTargeted(call, delegating...)
	}
	for _, in := range c.ends {
		constructed, err := p.callOnThis(probeConstructed, descConstructed)
		if err != nil {
			return err
		}
		code.InsertBeforeTargeted(in, constructed[0], classfile.NewVarInsn(classfile.OpIload, token), classfile.NewLdc(class), constructed[1])
	}
	code.InsertBefore(code.First(), begin, classfile.NewVarInsn(classfile.OpIstore, token))
	code.MaxStack += 3 // on top of what lies there at a return or a call of this(...)
	return nil
}
