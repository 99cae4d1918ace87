package wire_test

import (
	"encoding/json"
	"testing"

	"agentx/engine/driver/wire"
)

// FuzzScanner holds the scanner against encoding/json: it accepts nothing that
// is not JSON, and its strings say the same.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		`{"a":"b\n\u00e9\ud83d\ude00","c":[1,-2.5e3,null,true,false,{}],"d":{"e":[]}}`,
		`{"a":"\ud83d lone"}`, "{\"a\":\"\xff\"}", `{"a":01}`, `{"a":"x" "b":1}`, `{"a":1,}`, `{"a"`, `[]`, `{"a":-}`, "{\"a\":\"\x01\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := wire.Scan(b)
		texts := map[string]string{}
		for key, ok := s.Enter(); ok; key, ok = s.Field() {
			if string(key) == "a" {
				texts[string(key)] = s.String()
			} else {
				s.Skip()
			}
		}
		if !s.Done() {
			return
		}
		if !json.Valid(b) {
			t.Fatalf("%q is not JSON, and was accepted", b)
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		for key, got := range texts {
			var want string
			if err := json.Unmarshal(m[key], &want); err != nil || got != want {
				t.Errorf("%q: %q, want %q (%v)", b, got, want, err)
			}
		}
	})
}
