package instrument

import (
	"strings"

	"stackagent/agent/classfile"
)

const lambdaMark = "$$Lambda"

// LambdaName makes the name under which a lambda is shown, so that equal
// lambdas of two runs have equal names: the name of a hidden class
// (com.acme.Main$$Lambda$14/0x0000000800c03000, in JDK 21 and later
// com.acme.Main$$Lambda/0x...; the JVM's own form has '.' for the last '/')
// without what changes from run to run, and the method it calls, if that is
// known. Slashes between packages become dots.
func LambdaName(hiddenName, target string) string {
	name := hiddenName
	for _, sep := range []string{"/0x", ".0x", "+0x"} {
		if i := strings.LastIndex(name, sep); i >= 0 {
			name = name[:i]
		}
	}
	name = javaName(name)
	if i := strings.LastIndex(name, lambdaMark); i >= 0 {
		name = name[:i+len(lambdaMark)]
	}
	if target == "" {
		return name
	}
	return name + " -> " + target
}

// LambdaTarget finds the method that a lambda's class calls, as
// com.acme.Main.lambda$main$0, from the class file of the hidden class. False
// if the class does not look like one that the JDK spins for a lambda, or
// calls through a method handle, which hides the target.
func LambdaTarget(class []byte) (string, bool) {
	c, err := classfile.Parse(class)
	if err != nil {
		return "", false
	}
	var best *classfile.Member
	for _, m := range c.Methods {
		if m.Access&classfile.AccStatic != 0 || m.Name == "<init>" || m.Name == "writeReplace" {
			continue
		}
		if best == nil || !isTaskMethod(best) && isTaskMethod(m) {
			best = m
		}
	}
	if best == nil {
		return "", false
	}
	code, err := best.Code()
	if err != nil || code == nil {
		return "", false
	}
	return calledBy(c, code)
}

// calledBy returns the one call of a forwarding method that is neither boxing
// nor unboxing of an argument or of the result.
func calledBy(c *classfile.Class, code *classfile.Code) (string, bool) {
	boxing := ""
	for _, in := range code.Insns {
		if !in.Op.IsInvoke() || in.Op == classfile.OpInvokedynamic {
			continue
		}
		owner, name, _, err := c.Pool.MemberRef(in.Index)
		if err != nil || owner == "java/lang/invoke/MethodHandle" {
			return "", false
		}
		target := javaName(owner) + "." + name
		if !isBoxing(owner, name) {
			return target, true
		}
		if boxing == "" {
			boxing = target // Integer::valueOf itself may be the target
		}
	}
	return boxing, boxing != ""
}

func isBoxing(owner, name string) bool {
	switch owner {
	case "java/lang/Boolean", "java/lang/Byte", "java/lang/Character", "java/lang/Short",
		"java/lang/Integer", "java/lang/Long", "java/lang/Float", "java/lang/Double", "java/lang/Number":
		return name == "valueOf" || strings.HasSuffix(name, "Value")
	}
	return false
}
