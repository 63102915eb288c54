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

// String returns the mnemonic.
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

// IsReturn reports whether op leaves the method normally.
func (op Opcode) IsReturn() bool { return op >= OpIreturn && op <= OpReturn }

// IsJump reports whether op is goto or a conditional jump (Insn.Target).
func (op Opcode) IsJump() bool { return op.kind() == kindJump }

// IsSwitch reports whether op is tableswitch or lookupswitch (Insn.Switch).
func (op Opcode) IsSwitch() bool { return op == OpTableswitch || op == OpLookupswitch }

// IsInvoke reports whether op calls a method.
func (op Opcode) IsInvoke() bool { return op >= OpInvokevirtual && op <= OpInvokedynamic }

// Ends reports whether control never passes from op to the next instruction.
func (op Opcode) Ends() bool {
	return op == OpGoto || op == OpAthrow || op.IsReturn() || op.IsSwitch()
}

// IsPseudo reports whether op is a label, which is no instruction.
func (op Opcode) IsPseudo() bool { return op == OpLabel }
