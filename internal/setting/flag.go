package setting

// Flag is how a setting is given on a command line, which is nothing to the configuration that has it.
type Flag struct {
	Alias    string   // another name of the flag, which the help lists if it is one letter
	Short    bool     // in the short help
	Needed   []string // settings of which one must be given beside this one
	Excluded []string // settings that must not be given beside this one
}

// Common shows the setting in the short help.
func (s Setting) Common() Setting {
	s.Short = true
	return s
}

// OrAs adds another name of the flag.
func (s Setting) OrAs(name string) Setting {
	s.Alias = name
	return s
}

// Needs refuses the setting without one of some others.
func (s Setting) Needs(others ...string) Setting {
	s.Needed = others
	return s
}

// Excludes refuses the setting beside others.
func (s Setting) Excludes(others ...string) Setting {
	s.Excluded = others
	return s
}

// Common shows all settings in the short help.
func (l List) Common() List {
	for i := range l {
		l[i].Short = true
	}
	return l
}

// Needs refuses each of the settings unless one of others is given.
func (l List) Needs(keys ...string) List {
	for i := range l {
		l[i].Needed = keys
	}
	return l
}
