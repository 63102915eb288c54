package classfile

import "fmt"

// Opcode is an instruction's operation (JVMS chapter 6), or a pseudo operation
// above 255. Forms that differ only in their encoding are folded into one.
type Opcode uint16

// Pseudo operations.
const (
	// OpLabel is a position; it takes no bytes. Insn.Label says which.
	OpLabel Opcode = 256 + iota
	// OpPushInt pushes Insn.Const from the constant pool. NewConstInsn makes
	// it for values that no shorter instruction can push.
	OpPushInt
)

// The operations.
const (
	OpNop             Opcode = 0
	OpAconstNull      Opcode = 1
	OpIconstM1        Opcode = 2
	OpIconst0         Opcode = 3
	OpIconst1         Opcode = 4
	OpIconst2         Opcode = 5
	OpIconst3         Opcode = 6
	OpIconst4         Opcode = 7
	OpIconst5         Opcode = 8
	OpLconst0         Opcode = 9
	OpLconst1         Opcode = 10
	OpFconst0         Opcode = 11
	OpFconst1         Opcode = 12
	OpFconst2         Opcode = 13
	OpDconst0         Opcode = 14
	OpDconst1         Opcode = 15
	OpBipush          Opcode = 16
	OpSipush          Opcode = 17
	OpLdc             Opcode = 18
	OpLdc2W           Opcode = 20
	OpIload           Opcode = 21
	OpLload           Opcode = 22
	OpFload           Opcode = 23
	OpDload           Opcode = 24
	OpAload           Opcode = 25
	OpIaload          Opcode = 46
	OpLaload          Opcode = 47
	OpFaload          Opcode = 48
	OpDaload          Opcode = 49
	OpAaload          Opcode = 50
	OpBaload          Opcode = 51
	OpCaload          Opcode = 52
	OpSaload          Opcode = 53
	OpIstore          Opcode = 54
	OpLstore          Opcode = 55
	OpFstore          Opcode = 56
	OpDstore          Opcode = 57
	OpAstore          Opcode = 58
	OpIastore         Opcode = 79
	OpLastore         Opcode = 80
	OpFastore         Opcode = 81
	OpDastore         Opcode = 82
	OpAastore         Opcode = 83
	OpBastore         Opcode = 84
	OpCastore         Opcode = 85
	OpSastore         Opcode = 86
	OpPop             Opcode = 87
	OpPop2            Opcode = 88
	OpDup             Opcode = 89
	OpDupX1           Opcode = 90
	OpDupX2           Opcode = 91
	OpDup2            Opcode = 92
	OpDup2X1          Opcode = 93
	OpDup2X2          Opcode = 94
	OpSwap            Opcode = 95
	OpIadd            Opcode = 96
	OpLadd            Opcode = 97
	OpFadd            Opcode = 98
	OpDadd            Opcode = 99
	OpIsub            Opcode = 100
	OpLsub            Opcode = 101
	OpFsub            Opcode = 102
	OpDsub            Opcode = 103
	OpImul            Opcode = 104
	OpLmul            Opcode = 105
	OpFmul            Opcode = 106
	OpDmul            Opcode = 107
	OpIdiv            Opcode = 108
	OpLdiv            Opcode = 109
	OpFdiv            Opcode = 110
	OpDdiv            Opcode = 111
	OpIrem            Opcode = 112
	OpLrem            Opcode = 113
	OpFrem            Opcode = 114
	OpDrem            Opcode = 115
	OpIneg            Opcode = 116
	OpLneg            Opcode = 117
	OpFneg            Opcode = 118
	OpDneg            Opcode = 119
	OpIshl            Opcode = 120
	OpLshl            Opcode = 121
	OpIshr            Opcode = 122
	OpLshr            Opcode = 123
	OpIushr           Opcode = 124
	OpLushr           Opcode = 125
	OpIand            Opcode = 126
	OpLand            Opcode = 127
	OpIor             Opcode = 128
	OpLor             Opcode = 129
	OpIxor            Opcode = 130
	OpLxor            Opcode = 131
	OpIinc            Opcode = 132
	OpI2l             Opcode = 133
	OpI2f             Opcode = 134
	OpI2d             Opcode = 135
	OpL2i             Opcode = 136
	OpL2f             Opcode = 137
	OpL2d             Opcode = 138
	OpF2i             Opcode = 139
	OpF2l             Opcode = 140
	OpF2d             Opcode = 141
	OpD2i             Opcode = 142
	OpD2l             Opcode = 143
	OpD2f             Opcode = 144
	OpI2b             Opcode = 145
	OpI2c             Opcode = 146
	OpI2s             Opcode = 147
	OpLcmp            Opcode = 148
	OpFcmpl           Opcode = 149
	OpFcmpg           Opcode = 150
	OpDcmpl           Opcode = 151
	OpDcmpg           Opcode = 152
	OpIfeq            Opcode = 153
	OpIfne            Opcode = 154
	OpIflt            Opcode = 155
	OpIfge            Opcode = 156
	OpIfgt            Opcode = 157
	OpIfle            Opcode = 158
	OpIfIcmpeq        Opcode = 159
	OpIfIcmpne        Opcode = 160
	OpIfIcmplt        Opcode = 161
	OpIfIcmpge        Opcode = 162
	OpIfIcmpgt        Opcode = 163
	OpIfIcmple        Opcode = 164
	OpIfAcmpeq        Opcode = 165
	OpIfAcmpne        Opcode = 166
	OpGoto            Opcode = 167
	OpTableswitch     Opcode = 170
	OpLookupswitch    Opcode = 171
	OpIreturn         Opcode = 172
	OpLreturn         Opcode = 173
	OpFreturn         Opcode = 174
	OpDreturn         Opcode = 175
	OpAreturn         Opcode = 176
	OpReturn          Opcode = 177
	OpGetstatic       Opcode = 178
	OpPutstatic       Opcode = 179
	OpGetfield        Opcode = 180
	OpPutfield        Opcode = 181
	OpInvokevirtual   Opcode = 182
	OpInvokespecial   Opcode = 183
	OpInvokestatic    Opcode = 184
	OpInvokeinterface Opcode = 185
	OpInvokedynamic   Opcode = 186
	OpNew             Opcode = 187
	OpNewarray        Opcode = 188
	OpAnewarray       Opcode = 189
	OpArraylength     Opcode = 190
	OpAthrow          Opcode = 191
	OpCheckcast       Opcode = 192
	OpInstanceof      Opcode = 193
	OpMonitorenter    Opcode = 194
	OpMonitorexit     Opcode = 195
	OpMultianewarray  Opcode = 197
	OpIfnull          Opcode = 198
	OpIfnonnull       Opcode = 199
)

// Operations that occur only in encoded form, or not at all in code that can
// be edited (jsr, ret).
const (
	opLdcW    Opcode = 19
	opIload0  Opcode = 26
	opIstore0 Opcode = 59
	opJsr     Opcode = 168
	opRet     Opcode = 169
	opWide    Opcode = 196
	opGotoW   Opcode = 200
	opJsrW    Opcode = 201
)

// kind says how the operands of an operation are encoded.
type kind uint8

const (
	kindBad kind = iota
	kindPlain
	kindS1
	kindS2
	kindLdc
	kindLdcW
	kindPool
	kindVar
	kindVarN
	kindIinc
	kindJump
	kindJsr
	kindTable
	kindLookup
	kindInterface
	kindDynamic
	kindNewarray
	kindWide
	kindMulti
	kindGotoW
)

// ops describes every operation. The effect lists what is popped and pushed,
// one letter for each value: I, F, A, N (null) and X (any) take one slot, J and
// D two. "*" means that it depends on the constant pool, "" that the operation
// does not occur in decoded code.
var ops = [256]struct {
	name   string
	kind   kind
	effect string
}{
	0:   {"nop", kindPlain, ">"},
	1:   {"aconst_null", kindPlain, ">N"},
	2:   {"iconst_m1", kindPlain, ">I"},
	3:   {"iconst_0", kindPlain, ">I"},
	4:   {"iconst_1", kindPlain, ">I"},
	5:   {"iconst_2", kindPlain, ">I"},
	6:   {"iconst_3", kindPlain, ">I"},
	7:   {"iconst_4", kindPlain, ">I"},
	8:   {"iconst_5", kindPlain, ">I"},
	9:   {"lconst_0", kindPlain, ">J"},
	10:  {"lconst_1", kindPlain, ">J"},
	11:  {"fconst_0", kindPlain, ">F"},
	12:  {"fconst_1", kindPlain, ">F"},
	13:  {"fconst_2", kindPlain, ">F"},
	14:  {"dconst_0", kindPlain, ">D"},
	15:  {"dconst_1", kindPlain, ">D"},
	16:  {"bipush", kindS1, ">I"},
	17:  {"sipush", kindS2, ">I"},
	18:  {"ldc", kindLdc, "*"},
	19:  {"ldc_w", kindLdcW, ""},
	20:  {"ldc2_w", kindPool, "*"},
	21:  {"iload", kindVar, ">I"},
	22:  {"lload", kindVar, ">J"},
	23:  {"fload", kindVar, ">F"},
	24:  {"dload", kindVar, ">D"},
	25:  {"aload", kindVar, ">A"},
	26:  {"iload_0", kindVarN, ""},
	27:  {"iload_1", kindVarN, ""},
	28:  {"iload_2", kindVarN, ""},
	29:  {"iload_3", kindVarN, ""},
	30:  {"lload_0", kindVarN, ""},
	31:  {"lload_1", kindVarN, ""},
	32:  {"lload_2", kindVarN, ""},
	33:  {"lload_3", kindVarN, ""},
	34:  {"fload_0", kindVarN, ""},
	35:  {"fload_1", kindVarN, ""},
	36:  {"fload_2", kindVarN, ""},
	37:  {"fload_3", kindVarN, ""},
	38:  {"dload_0", kindVarN, ""},
	39:  {"dload_1", kindVarN, ""},
	40:  {"dload_2", kindVarN, ""},
	41:  {"dload_3", kindVarN, ""},
	42:  {"aload_0", kindVarN, ""},
	43:  {"aload_1", kindVarN, ""},
	44:  {"aload_2", kindVarN, ""},
	45:  {"aload_3", kindVarN, ""},
	46:  {"iaload", kindPlain, "AI>I"},
	47:  {"laload", kindPlain, "AI>J"},
	48:  {"faload", kindPlain, "AI>F"},
	49:  {"daload", kindPlain, "AI>D"},
	50:  {"aaload", kindPlain, "AI>A"},
	51:  {"baload", kindPlain, "AI>I"},
	52:  {"caload", kindPlain, "AI>I"},
	53:  {"saload", kindPlain, "AI>I"},
	54:  {"istore", kindVar, "I>"},
	55:  {"lstore", kindVar, "J>"},
	56:  {"fstore", kindVar, "F>"},
	57:  {"dstore", kindVar, "D>"},
	58:  {"astore", kindVar, "A>"},
	59:  {"istore_0", kindVarN, ""},
	60:  {"istore_1", kindVarN, ""},
	61:  {"istore_2", kindVarN, ""},
	62:  {"istore_3", kindVarN, ""},
	63:  {"lstore_0", kindVarN, ""},
	64:  {"lstore_1", kindVarN, ""},
	65:  {"lstore_2", kindVarN, ""},
	66:  {"lstore_3", kindVarN, ""},
	67:  {"fstore_0", kindVarN, ""},
	68:  {"fstore_1", kindVarN, ""},
	69:  {"fstore_2", kindVarN, ""},
	70:  {"fstore_3", kindVarN, ""},
	71:  {"dstore_0", kindVarN, ""},
	72:  {"dstore_1", kindVarN, ""},
	73:  {"dstore_2", kindVarN, ""},
	74:  {"dstore_3", kindVarN, ""},
	75:  {"astore_0", kindVarN, ""},
	76:  {"astore_1", kindVarN, ""},
	77:  {"astore_2", kindVarN, ""},
	78:  {"astore_3", kindVarN, ""},
	79:  {"iastore", kindPlain, "AII>"},
	80:  {"lastore", kindPlain, "AIJ>"},
	81:  {"fastore", kindPlain, "AIF>"},
	82:  {"dastore", kindPlain, "AID>"},
	83:  {"aastore", kindPlain, "AIA>"},
	84:  {"bastore", kindPlain, "AII>"},
	85:  {"castore", kindPlain, "AII>"},
	86:  {"sastore", kindPlain, "AII>"},
	87:  {"pop", kindPlain, "X>"},
	88:  {"pop2", kindPlain, "XX>"},
	89:  {"dup", kindPlain, "X>XX"},
	90:  {"dup_x1", kindPlain, "XX>XXX"},
	91:  {"dup_x2", kindPlain, "XXX>XXXX"},
	92:  {"dup2", kindPlain, "XX>XXXX"},
	93:  {"dup2_x1", kindPlain, "XXX>XXXXX"},
	94:  {"dup2_x2", kindPlain, "XXXX>XXXXXX"},
	95:  {"swap", kindPlain, "XX>XX"},
	96:  {"iadd", kindPlain, "II>I"},
	97:  {"ladd", kindPlain, "JJ>J"},
	98:  {"fadd", kindPlain, "FF>F"},
	99:  {"dadd", kindPlain, "DD>D"},
	100: {"isub", kindPlain, "II>I"},
	101: {"lsub", kindPlain, "JJ>J"},
	102: {"fsub", kindPlain, "FF>F"},
	103: {"dsub", kindPlain, "DD>D"},
	104: {"imul", kindPlain, "II>I"},
	105: {"lmul", kindPlain, "JJ>J"},
	106: {"fmul", kindPlain, "FF>F"},
	107: {"dmul", kindPlain, "DD>D"},
	108: {"idiv", kindPlain, "II>I"},
	109: {"ldiv", kindPlain, "JJ>J"},
	110: {"fdiv", kindPlain, "FF>F"},
	111: {"ddiv", kindPlain, "DD>D"},
	112: {"irem", kindPlain, "II>I"},
	113: {"lrem", kindPlain, "JJ>J"},
	114: {"frem", kindPlain, "FF>F"},
	115: {"drem", kindPlain, "DD>D"},
	116: {"ineg", kindPlain, "I>I"},
	117: {"lneg", kindPlain, "J>J"},
	118: {"fneg", kindPlain, "F>F"},
	119: {"dneg", kindPlain, "D>D"},
	120: {"ishl", kindPlain, "II>I"},
	121: {"lshl", kindPlain, "JI>J"},
	122: {"ishr", kindPlain, "II>I"},
	123: {"lshr", kindPlain, "JI>J"},
	124: {"iushr", kindPlain, "II>I"},
	125: {"lushr", kindPlain, "JI>J"},
	126: {"iand", kindPlain, "II>I"},
	127: {"land", kindPlain, "JJ>J"},
	128: {"ior", kindPlain, "II>I"},
	129: {"lor", kindPlain, "JJ>J"},
	130: {"ixor", kindPlain, "II>I"},
	131: {"lxor", kindPlain, "JJ>J"},
	132: {"iinc", kindIinc, ">"},
	133: {"i2l", kindPlain, "I>J"},
	134: {"i2f", kindPlain, "I>F"},
	135: {"i2d", kindPlain, "I>D"},
	136: {"l2i", kindPlain, "J>I"},
	137: {"l2f", kindPlain, "J>F"},
	138: {"l2d", kindPlain, "J>D"},
	139: {"f2i", kindPlain, "F>I"},
	140: {"f2l", kindPlain, "F>J"},
	141: {"f2d", kindPlain, "F>D"},
	142: {"d2i", kindPlain, "D>I"},
	143: {"d2l", kindPlain, "D>J"},
	144: {"d2f", kindPlain, "D>F"},
	145: {"i2b", kindPlain, "I>I"},
	146: {"i2c", kindPlain, "I>I"},
	147: {"i2s", kindPlain, "I>I"},
	148: {"lcmp", kindPlain, "JJ>I"},
	149: {"fcmpl", kindPlain, "FF>I"},
	150: {"fcmpg", kindPlain, "FF>I"},
	151: {"dcmpl", kindPlain, "DD>I"},
	152: {"dcmpg", kindPlain, "DD>I"},
	153: {"ifeq", kindJump, "I>"},
	154: {"ifne", kindJump, "I>"},
	155: {"iflt", kindJump, "I>"},
	156: {"ifge", kindJump, "I>"},
	157: {"ifgt", kindJump, "I>"},
	158: {"ifle", kindJump, "I>"},
	159: {"if_icmpeq", kindJump, "II>"},
	160: {"if_icmpne", kindJump, "II>"},
	161: {"if_icmplt", kindJump, "II>"},
	162: {"if_icmpge", kindJump, "II>"},
	163: {"if_icmpgt", kindJump, "II>"},
	164: {"if_icmple", kindJump, "II>"},
	165: {"if_acmpeq", kindJump, "AA>"},
	166: {"if_acmpne", kindJump, "AA>"},
	167: {"goto", kindJump, ">"},
	168: {"jsr", kindJsr, ""},
	169: {"ret", kindJsr, ""},
	170: {"tableswitch", kindTable, "I>"},
	171: {"lookupswitch", kindLookup, "I>"},
	172: {"ireturn", kindPlain, "I>"},
	173: {"lreturn", kindPlain, "J>"},
	174: {"freturn", kindPlain, "F>"},
	175: {"dreturn", kindPlain, "D>"},
	176: {"areturn", kindPlain, "A>"},
	177: {"return", kindPlain, ">"},
	178: {"getstatic", kindPool, "*"},
	179: {"putstatic", kindPool, "*"},
	180: {"getfield", kindPool, "*"},
	181: {"putfield", kindPool, "*"},
	182: {"invokevirtual", kindPool, "*"},
	183: {"invokespecial", kindPool, "*"},
	184: {"invokestatic", kindPool, "*"},
	185: {"invokeinterface", kindInterface, "*"},
	186: {"invokedynamic", kindDynamic, "*"},
	187: {"new", kindPool, ">A"},
	188: {"newarray", kindNewarray, "I>A"},
	189: {"anewarray", kindPool, "I>A"},
	190: {"arraylength", kindPlain, "A>I"},
	191: {"athrow", kindPlain, "A>"},
	192: {"checkcast", kindPool, "A>A"},
	193: {"instanceof", kindPool, "A>I"},
	194: {"monitorenter", kindPlain, "A>"},
	195: {"monitorexit", kindPlain, "A>"},
	196: {"wide", kindWide, ""},
	197: {"multianewarray", kindMulti, "*"},
	198: {"ifnull", kindJump, "A>"},
	199: {"ifnonnull", kindJump, "A>"},
	200: {"goto_w", kindGotoW, ""},
	201: {"jsr_w", kindJsr, ""},
}

// String gives the mnemonic.
func (op Opcode) String() string {
	switch {
	case op == OpLabel:
		return "label"
	case op == OpPushInt:
		return "pushint"
	case op < 256 && ops[op].name != "":
		return ops[op].name
	}
	return fmt.Sprintf("opcode(%d)", uint16(op))
}

func (op Opcode) kind() kind {
	if op < 256 {
		return ops[op].kind
	}
	return kindBad
}

// IsReturn tells whether op leaves the method normally.
func (op Opcode) IsReturn() bool { return op >= OpIreturn && op <= OpReturn }

// IsJump tells whether op is goto or a conditional jump (Insn.Target).
func (op Opcode) IsJump() bool { return op.kind() == kindJump }

// IsConditional tells whether op is a conditional jump.
func (op Opcode) IsConditional() bool { return op.IsJump() && op != OpGoto }

// IsSwitch tells whether op is tableswitch or lookupswitch (Insn.Switch).
func (op Opcode) IsSwitch() bool { return op == OpTableswitch || op == OpLookupswitch }

// IsInvoke tells whether op calls a method.
func (op Opcode) IsInvoke() bool { return op >= OpInvokevirtual && op <= OpInvokedynamic }

// Ends tells whether control never passes from op to the next instruction.
func (op Opcode) Ends() bool {
	return op == OpGoto || op == OpAthrow || op.IsReturn() || op.IsSwitch()
}

// IsPseudo tells whether op is a label, which is no instruction.
func (op Opcode) IsPseudo() bool { return op == OpLabel }
