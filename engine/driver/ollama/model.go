package ollama

import (
	"context"
	"encoding/json"
	"sync"

	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// A Model is one that the server has.
type Model struct {
	ID           string   // to ask it by
	Size         int64    // bytes on the server's disk; small for a model in the cloud
	Parameters   string   // how many, as people say it: 8.0B
	Quantization string   // how they are kept: Q4_K_M
	Context      int      // tokens that it was made for, more than the server may give it; 0 is unknown
	Capabilities []string // completion, tools, vision, thinking, embedding, …; empty is unknown
}

// Models asks the server which models it has, and then about each of them. What
// it does not tell of one is left out.
func (d Driver) Models(ctx context.Context) ([]Model, error) {
	client, done := wire.Borrow(d.Client)
	defer done()
	models, err := d.tags(ctx, client)
	if err != nil {
		return nil, d.advise(err, "")
	}
	next := make(chan *Model)
	var all sync.WaitGroup
	for range askers {
		all.Go(func() { // ends with the channel
			for m := range next {
				d.show(ctx, client, m)
			}
		})
	}
	for i := range models {
		next <- &models[i]
	}
	close(next)
	all.Wait()
	return models, context.Cause(ctx)
}

const (
	askers    = 4    // at once
	maxModels = 1000 // are asked about
)

func (d Driver) tags(ctx context.Context, client *wire.Client) ([]Model, error) {
	call, err := d.account().Call(ctx, "/api/tags")
	if err != nil {
		return nil, err
	}
	var list struct {
		Models []struct {
			Name    string
			Size    int64
			Details struct {
				Parameters   string `json:"parameter_size"`
				Quantization string `json:"quantization_level"`
			}
		}
	}
	if err := client.Get(ctx, call, &list); err != nil {
		return nil, err
	}
	var models []Model
	for _, m := range list.Models[:min(len(list.Models), maxModels)] {
		models = append(models, Model{ID: m.Name, Size: m.Size, Parameters: m.Details.Parameters, Quantization: m.Details.Quantization})
	}
	return models, nil
}

// show completes what is known of a model.
func (d Driver) show(ctx context.Context, client *wire.Client, m *Model) {
	call, err := d.account().Call(ctx, "/api/show")
	if err != nil {
		return
	}
	if call.Body, err = event.Marshal(map[string]string{"model": m.ID}); err != nil {
		return
	}
	var about struct {
		Capabilities []string
		Info         map[string]json.RawMessage `json:"model_info"`
	}
	if client.Get(ctx, call, &about) != nil {
		return
	}
	m.Capabilities = about.Capabilities
	var architecture string
	_ = json.Unmarshal(about.Info["general.architecture"], &architecture)
	_ = json.Unmarshal(about.Info[architecture+".context_length"], &m.Context)
	m.Context = max(0, m.Context)
}
