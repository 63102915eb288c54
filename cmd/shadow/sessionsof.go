package main

import (
	"fmt"
	"slices"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// sessionsOf lists the sessions in folders, each once; notes say which are left out as copies of others: a run that counted
// twice would make intervals too narrow. Where damaged sessions are read, a copy that is whole is taken instead of one that
// is not.
func sessionsOf(env console.Env, args []string) (all, notes []string, err error) {
	damaged := env.Sessions != nil && env.Sessions.Damaged
	seen, first, copies := map[string]bool{}, map[store.Identity]int{}, map[int][]string{} // places in all; copies by them
	for _, arg := range args {
		dir, err := env.Resolve(arg)
		if err != nil {
			return nil, nil, err
		}
		dirs, err := sessionsBelow(dir)
		if err != nil {
			return nil, nil, err
		}
		for _, d := range dirs {
			if seen[d] {
				continue
			}
			seen[d] = true
			if id, err := store.IdentityOf(d, damaged); err == nil { // else opening it says why
				if i, ok := first[id]; ok {
					copies[i] = append(copies[i], d)
					continue
				}
				first[id] = len(all)
			}
			all = append(all, d)
		}
	}
	for i := range all {
		same := copies[i]
		if damaged && len(same) > 0 && session.Verify(all[i]) != nil {
			if whole := slices.IndexFunc(same, func(d string) bool { return session.Verify(d) == nil }); whole >= 0 {
				all[i], same[whole] = same[whole], all[i]
			}
		}
		for _, d := range same {
			notes = append(notes, fmt.Sprintf("%s holds the same session as %s: it counts once", d, all[i]))
		}
	}
	return all, notes, nil
}
