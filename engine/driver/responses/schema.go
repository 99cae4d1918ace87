package responses

import "encoding/json"

// follow asks for an answer that follows a schema, to the letter where the
// server can promise that.
func follow(schema json.RawMessage) *text {
	if len(schema) == 0 {
		return nil
	}
	return &text{format{Type: "json_schema", Name: "answer", Schema: schema, Strict: closed(schema)}}
}

// closed reports whether a schema leaves nothing open and says nothing but what
// the API can enforce: of such ones it promises that the answer follows them,
// all others it refuses to promise.
func closed(schema json.RawMessage) bool {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil {
		return false
	}
	_, either := root["anyOf"]
	return root["type"] == "object" && !either && closedAt(root, 0)
}

const deepest = 10 // levels of a schema that the API can enforce

func closedAt(value any, depth int) bool {
	schema, ok := value.(map[string]any)
	if !ok || depth > deepest {
		return false
	}
	for key, value := range schema {
		switch key {
		case "type", "enum", "const", "description", "title", "$ref", "required",
			"pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems":
		case "additionalProperties":
			ok = ok && value == false
		case "items":
			ok = ok && closedAt(value, depth+1)
		case "properties", "$defs", "definitions":
			all, _ := value.(map[string]any)
			for _, inner := range all {
				ok = ok && closedAt(inner, depth+1)
			}
		case "anyOf":
			all, _ := value.([]any)
			for _, inner := range all {
				ok = ok && closedAt(inner, depth+1)
			}
		default:
			return false
		}
	}
	return ok && (!isObject(schema["type"]) || complete(schema))
}

// isObject reports whether a type is object, or may be.
func isObject(kind any) bool {
	if list, ok := kind.([]any); ok {
		for _, k := range list {
			if k == "object" {
				return true
			}
		}
	}
	return kind == "object"
}

// complete reports whether an object has all its properties and no others.
func complete(schema map[string]any) bool {
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	must := map[any]bool{}
	for _, name := range required {
		if name, ok := name.(string); ok {
			must[name] = true
		}
	}
	for name := range properties {
		if !must[name] {
			return false
		}
	}
	_, said := schema["additionalProperties"]
	return said && len(must) == len(properties)
}
