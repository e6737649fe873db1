package xlsa17

import (
	"strings"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
)

func tookCache(hook *logtest.Hook) bool {
	return said(hook, logrus.DebugLevel, "features are read from the cache")
}

// said is whether the log has an entry that begins with text.
func said(hook *logtest.Hook, level logrus.Level, text string) bool {
	for _, e := range hook.AllEntries() {
		if e.Level == level && strings.HasPrefix(e.Message, text) {
			return true
		}
	}
	return false
}
