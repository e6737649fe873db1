#ifdef GOARCH_amd64
#include "textflag.h"

// func rmspropAVX(w, grad, squares []float32, lr, kept, gain, eps float32)
TEXT ·rmspropAVX(SB), NOSPLIT, $0-88
	MOVQ w_base+0(FP), AX
	MOVQ w_len+8(FP), CX
	MOVQ grad_base+24(FP), BX
	MOVQ squares_base+48(FP), SI
	VBROADCASTSS lr+72(FP), Y0
	VBROADCASTSS kept+76(FP), Y1
	VBROADCASTSS gain+80(FP), Y2
	VBROADCASTSS eps+84(FP), Y3
	XORQ DI, DI

loop:
	CMPQ DI, CX
	JGE  done

	// Y6: squares = kept*squares + gain*g*g
	VMOVUPS (BX)(DI*4), Y5
	VMULPS  (SI)(DI*4), Y1, Y6
	VMULPS  Y5, Y2, Y7
	VMULPS  Y5, Y7, Y7
	VADDPS  Y7, Y6, Y6
	VMOVUPS Y6, (SI)(DI*4)

	// w -= lr*g / (sqrt(squares) + eps)
	VSQRTPS Y6, Y6
	VADDPS  Y3, Y6, Y6
	VMULPS  Y5, Y0, Y5
	VDIVPS  Y6, Y5, Y5
	VMOVUPS (AX)(DI*4), Y8
	VSUBPS  Y5, Y8, Y8
	VMOVUPS Y8, (AX)(DI*4)

	ADDQ $8, DI
	JMP  loop

done:
	VZEROUPPER
	RET
#endif
