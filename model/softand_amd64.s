#include "textflag.h"

// func multiplyAVX(product []float64, scores []float32, least, most float64)
TEXT ·multiplyAVX(SB), NOSPLIT, $0-64
	MOVQ product_base+0(FP), AX
	MOVQ scores_base+24(FP), BX
	MOVQ scores_len+32(FP), CX
	VBROADCASTSD least+48(FP), Y0
	VBROADCASTSD most+56(FP), Y1
	XORQ DI, DI

loop:
	CMPQ DI, CX
	JGE  done

	// Both return their first operand here, the score, where it is NaN.
	VCVTPS2PD (BX)(DI*4), Y2
	VMAXPD    Y2, Y0, Y2
	VMINPD    Y2, Y1, Y2
	VMULPD    (AX)(DI*8), Y2, Y2
	VMOVUPD   Y2, (AX)(DI*8)

	ADDQ $4, DI
	JMP  loop

done:
	VZEROUPPER
	RET

// func divideAVX(dg, dl, scores []float32, least, most float32)
TEXT ·divideAVX(SB), NOSPLIT, $0-80
	MOVQ dg_base+0(FP), AX
	MOVQ dl_base+24(FP), DX
	MOVQ scores_base+48(FP), BX
	MOVQ scores_len+56(FP), CX
	VBROADCASTSS least+72(FP), Y0
	VBROADCASTSS most+76(FP), Y1
	XORQ DI, DI

loop:
	CMPQ DI, CX
	JGE  done

	// Y3: all bits of a score that is above least and below most.
	VMOVUPS (BX)(DI*4), Y2
	VCMPPS  $0x1e, Y0, Y2, Y3
	VCMPPS  $0x11, Y1, Y2, Y4
	VANDPS  Y3, Y4, Y3
	VMOVUPS (DX)(DI*4), Y5
	VDIVPS  Y2, Y5, Y5
	VANDPS  Y3, Y5, Y5
	VMOVUPS Y5, (AX)(DI*4)

	ADDQ $8, DI
	JMP  loop

done:
	VZEROUPPER
	RET
