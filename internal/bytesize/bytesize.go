package bytesize

import "fmt"

// Text returns n bytes in the decimal unit that keeps the number short: "999 B",
// "1.2 MB". A negative n, which sizes that are not known have, is "unknown".
func Text(n int64) string {
	if n < 0 {
		return "unknown"
	}
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	const units = "kMGTPE"
	value, unit := float64(n)/1000, 0
	// 999.95 would be written as 1000.0.
	for value >= 999.95 && unit < len(units)-1 {
		value /= 1000
		unit++
	}
	return fmt.Sprintf("%.1f %cB", value, units[unit])
}
