package wire

import (
	"context"
	"encoding/json"
	"io"

	"agentx/engine/event"
)

// A Model is one that a server offers.
type Model struct {
	ID   string
	Name string // for people; may be empty
}

const maxAnswer = 16 << 20

// Get asks once for the JSON at the call's address and reads it into v. Its
// error is a [*engine.Fault], or that of ctx.
func (c *Client) Get(ctx context.Context, call Call, v any) error {
	outer := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := attempt{client: c, call: call}
	resp, failed := a.open(ctx, cancel)
	if resp == nil {
		return orDone(outer, failed.fault)
	}
	body := c.watch(ctx, cancel, resp.Body)
	defer body.Close()
	if resp.StatusCode != 200 {
		return orDone(outer, call.Said(resp))
	}
	b, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	switch {
	case err != nil:
		return orDone(outer, call.unreachable(err))
	case len(b) > maxAnswer:
		return call.fault(event.CodeTooLarge, "the answer of %s is larger than %s", call.host(), size(maxAnswer))
	}
	if err := json.Unmarshal(b, v); err != nil {
		return call.fault(event.CodeProtocol, "the answer of %s is not the JSON that was expected", call.host())
	}
	return nil
}

func orDone(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// Models reads a list of models as OpenAI and those who follow it give it.
func (c *Client) Models(ctx context.Context, call Call) ([]Model, error) {
	var list struct {
		Data []struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"data"`
	}
	if err := c.Get(ctx, call, &list); err != nil {
		return nil, err
	}
	var models []Model
	for _, m := range list.Data {
		models = append(models, Model{ID: m.ID, Name: m.Name})
	}
	return models, nil
}
