package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

// A Turn is a message of the user and how it was answered.
type Turn struct {
	Message event.UserMessage // zero where the recording does not say
	Answer  Driver
}

// Trace reads the stream section of a trace, a txtar archive: one JSON event a
// line, a user_message before each answer, derived events left out. A line of
// the type driver_fails, with the data of error_received, is a driver that ends
// with that error. The waits are those between the timestamps.
func Trace(archive []byte) ([]Turn, error) {
	stream, ok := Section(ParseArchive(archive), "stream")
	if !ok {
		return nil, errors.New("script: the trace has no section \"stream\"")
	}
	return Read(stream)
}

// Read is Trace of the lines alone.
func Read(lines []byte) ([]Turn, error) {
	var turns []Turn
	var clock time.Time
	for at, line := range rows(lines) {
		var e event.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("script: line %d: %w", at, err)
		}
		if m, ok := e.Data.(event.UserMessage); ok {
			turns, clock = append(turns, Turn{Message: m, Answer: Driver{Speed: 1}}), e.At
			continue
		}
		step, ok, err := stepOf(e)
		if err != nil {
			return nil, fmt.Errorf("script: line %d: %w", at, err)
		}
		if !ok {
			continue
		}
		if len(turns) == 0 {
			turns, clock = append(turns, Turn{Answer: Driver{Speed: 1}}), e.At
		}
		step.After, clock = max(0, e.At.Sub(clock)), e.At
		answer := &turns[len(turns)-1].Answer
		answer.Steps = append(answer.Steps, step)
	}
	return turns, nil
}

// stepOf is what a driver did when it yielded e, or false for what it cannot
// yield.
func stepOf(e event.Event) (Step, bool, error) {
	s, ok := e.Data.(event.Stream)
	if !ok {
		return Step{}, false, nil
	}
	u, ok := s.(event.Unknown)
	if !ok || u.Name != failure {
		return Step{Event: s}, true, nil
	}
	var cause event.ErrorReceived
	if err := json.Unmarshal(u.Raw, &cause); err != nil {
		return Step{}, false, fmt.Errorf("%s: %w", failure, err)
	}
	return Step{Err: &engine.Fault{Code: cause.ErrorCode, Message: cause.Message, Retryable: cause.Retryable}}, true, nil
}

// failure is the type of a line that is no event, but a driver's error.
const failure = "driver_fails"

// rows are the lines that hold something, with their numbers.
func rows(text []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		n := 0
		for line := range bytes.Lines(text) {
			n++
			if line = bytes.TrimSpace(line); len(line) > 0 && !yield(n, line) {
				return
			}
		}
	}
}

// Answers returns the drivers of the turns, each to be played at speed.
func Answers(turns []Turn, speed float64) Turns {
	all := make(Turns, len(turns))
	for i, t := range turns {
		all[i] = Driver{Steps: t.Answer.Steps, Speed: speed}
	}
	return all
}
