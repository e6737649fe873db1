package images

import (
	"context"
	"fmt"
	"runtime"

	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/invalid"
)

// decoding has as many tokens as images of a million pixels may be decoded at a time in this process, at
// 7 (JPEG) to 17 bytes (PNG of 16 bits) for a pixel, and turn one for the image that takes its tokens.
var decoding, turn = make(chan struct{}, maxPixels/1_000_000), make(chan struct{}, 1)

// hold reads the file of an image and waits until there is room to decode it, in the order of the
// callers. release gives the room back.
func (m *Image) hold(ctx context.Context) (release func(), err error) {
	data, config, _, err := m.read(ctx)
	if err != nil {
		return nil, err
	}
	m.Data = data
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-turn }()
	taken := 0
	release = func() {
		for range taken {
			<-decoding
		}
	}
	for need := max(config.Width*config.Height/1_000_000, 1); taken < need; taken++ {
		select {
		case decoding <- struct{}{}:
		case <-ctx.Done():
			release()
			return nil, ctx.Err()
		}
	}
	if err := enoughMemory(m.Path, config.Width*config.Height, blas.FreeAddresses); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// enoughMemory returns an error for a large image that does not fit into the address space that is
// left, once the memory of earlier ones was collected.
func enoughMemory(path string, pixels int, left func() uint64) error {
	const large, pixelBytes, others = 10_000_000, 17, 128 << 20
	if need := uint64(pixels*pixelBytes + others); pixels >= large && left() < need {
		runtime.GC()
		if free := left(); free < need {
			return &invalid.Error{
				Where: path, Field: "memory",
				Want: fmt.Sprintf("%d MB for an image of %d megapixels", need>>20, pixels/1_000_000),
				Got:  fmt.Sprintf("%d MB below the limit (ulimit -v)", free>>20),
				Hint: "Raise the limit, or make the image smaller.",
			}
		}
	}
	return nil
}
