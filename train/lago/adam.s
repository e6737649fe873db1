#ifdef GOARCH_amd64
#include "textflag.h"

// func updateAVX(value, grad, mean, square []float32, rate, unbias, meanGain, squareGain, eps float32)
TEXT ·updateAVX(SB), NOSPLIT, $0-116
	MOVQ value_base+0(FP), AX
	MOVQ value_len+8(FP), CX
	MOVQ grad_base+24(FP), BX
	MOVQ mean_base+48(FP), DX
	MOVQ square_base+72(FP), SI
	VBROADCASTSS rate+96(FP), Y0
	VBROADCASTSS unbias+100(FP), Y1
	VBROADCASTSS meanGain+104(FP), Y2
	VBROADCASTSS squareGain+108(FP), Y3
	VBROADCASTSS eps+112(FP), Y4
	XORQ DI, DI

loop:
	CMPQ DI, CX
	JGE  done

	// Y6: the mean moves towards the gradient Y5 by meanGain.
	VMOVUPS (BX)(DI*4), Y5
	VMOVUPS (DX)(DI*4), Y6
	VSUBPS  Y6, Y5, Y7
	VMULPS  Y7, Y2, Y7
	VADDPS  Y7, Y6, Y6
	VMOVUPS Y6, (DX)(DI*4)

	// Y8: the mean square moves towards the square of the gradient by squareGain.
	VMOVUPS (SI)(DI*4), Y8
	VMULPS  Y5, Y5, Y5
	VSUBPS  Y8, Y5, Y5
	VMULPS  Y5, Y3, Y5
	VADDPS  Y5, Y8, Y8
	VMOVUPS Y8, (SI)(DI*4)

	// value -= rate*mean / (sqrt(square)*unbias + eps)
	VSQRTPS Y8, Y8
	VMULPS  Y8, Y1, Y8
	VADDPS  Y8, Y4, Y8
	VMULPS  Y6, Y0, Y6
	VDIVPS  Y8, Y6, Y6
	VMOVUPS (AX)(DI*4), Y9
	VSUBPS  Y6, Y9, Y9
	VMOVUPS Y9, (AX)(DI*4)

	ADDQ $8, DI
	JMP  loop

done:
	VZEROUPPER
	RET
#endif
