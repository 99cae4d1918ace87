package tui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentx/tui/screen"

	tea "charm.land/bubbletea/v2"
)

// A key is drawn at once, however fresh the last frame is; keys that come faster
// than that, and all that nobody waits for, share one.
func TestAKeyIsDrawnAtOnce(t *testing.T) {
	x := tea.KeyPressMsg{Code: 'x', Text: "x"}
	synctest.Test(t, func(t *testing.T) {
		began, frames := time.Now(), []string{}
		d := &desk{feed: NewFeed()}
		s := &stage{model: newModel(t.Context(), Options{Feed: d.feed}, d)}
		s.draw = func(f screen.Frame) {
			written := strings.Count(strings.Join(f.Lines, ""), "x")
			frames = append(frames, time.Since(began).String()+strings.Repeat(" x", written))
		}
		due := make(chan tea.Msg, 10)
		var run func(tea.Cmd)
		run = func(cmd tea.Cmd) {
			go func() { // ends with its command
				switch msg := cmd().(type) {
				case tea.BatchMsg:
					for _, c := range msg {
						run(c)
					}
				case drawNow:
					due <- msg
				}
			}()
		}
		say := func(msg tea.Msg) {
			if _, cmd := s.Update(msg); cmd != nil {
				run(cmd)
			}
		}
		say(outputs{at: time.Now()})
		time.Sleep(5 * time.Millisecond)
		say(x)
		time.Sleep(5 * time.Millisecond)
		say(outputs{at: time.Now()})
		say(x)
		for rest := time.After(time.Minute); rest != nil; {
			select {
			case msg := <-due:
				say(msg)
			case <-rest:
				rest = nil
			}
		}
		d.feed.Close()
		if got, want := strings.Join(frames, ", "), "0s, 5ms x, 21ms x x"; got != want {
			t.Errorf("drawn at %s, want %s", got, want)
		}
	})
}
