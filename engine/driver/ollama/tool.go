package ollama

import (
	"bytes"
	"encoding/json"

	"agentx/engine"
	"agentx/engine/event"
)

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

func tools(all []engine.Tool) []tool {
	var out []tool
	for _, t := range all {
		out = append(out, tool{"function", function{t.Name, t.Description, parameters(t.Schema)}})
	}
	return out
}

// parameters is a schema that the server can read. It reads schemas into types
// of its own, and refuses a request for a property that is only "true", as some
// generators write "anything".
func parameters(schema json.RawMessage) json.RawMessage {
	if !isObject(schema) {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	var top map[string]any
	if !bytes.Contains(schema, []byte("true")) && !bytes.Contains(schema, []byte("false")) || json.Unmarshal(schema, &top) != nil || !spell(top) {
		return schema
	}
	spelled, err := event.Marshal(top)
	if err != nil {
		return schema
	}
	return spelled
}

// spell replaces the properties and alternatives that are no objects, and
// reports whether there were any.
func spell(schema map[string]any) bool {
	changed := false
	if all, ok := schema["properties"].(map[string]any); ok {
		for name, p := range all {
			inner, ok := p.(map[string]any)
			if !ok {
				inner = map[string]any{}
				all[name] = inner
			}
			changed = spell(inner) || !ok || changed
		}
	}
	if some, ok := schema["anyOf"].([]any); ok {
		changed = spellAll(some) || changed
	}
	return changed
}

func spellAll(schemas []any) bool {
	changed := false
	for i, s := range schemas {
		inner, ok := s.(map[string]any)
		if !ok {
			inner = map[string]any{}
			schemas[i] = inner
		}
		changed = spell(inner) || !ok || changed
	}
	return changed
}
