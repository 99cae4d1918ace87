package ollama

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// advise adds to a fault what its reader can do about it: the server is often
// his own.
func (d Driver) advise(err error, model string) error {
	f, ok := errors.AsType[*engine.Fault](err)
	if !ok {
		return err
	}
	advised := *f
	switch {
	case f.Code == event.CodeNotFound && noModel(f.Message):
		model = wire.Visible(model)
		advised.Message = fmt.Sprintf("%s has no model %s; `ollama pull %s` fetches it", d.Name(), model, model)
	case f.Code == event.CodeContextOverflow:
		advised.Message += "; OLLAMA_CONTEXT_LENGTH, where the server is started, gives it more room"
	case f.Code == event.CodeAuthentication:
		advised.Message += "; a model in Ollama's cloud wants a key, or `ollama signin`"
	case f.Code == event.CodeIncomplete && errors.Is(err, io.EOF):
		advised.Message += "; Ollama does so when a model goes on repeating itself"
	case errors.Is(err, syscall.ECONNREFUSED):
		advised.Message += "; `ollama serve` starts the server"
	default:
		return err
	}
	return &advised
}

// noModel tells a model that is not there from an address that is none.
func noModel(message string) bool {
	return strings.Contains(message, "not found") && (strings.Contains(message, "model '") || strings.Contains(message, `model "`))
}

// cannotThink reports whether the server refuses a request for what it says
// about thinking.
func cannotThink(f *engine.Fault) bool {
	return strings.Contains(f.Message, "does not support thinking") || strings.Contains(f.Message, "think value")
}
