package wiretest

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRequest compares the body of a request with testdata/NAME.json. With
// UPDATE set it writes that.
func TestRequest(t *testing.T, name string, body []byte) {
	t.Helper()
	var got, want any
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".json")
	pretty, _ := json.MarshalIndent(got, "", " ") // it was JSON
	update(t, path, append(pretty, '\n'))
	if err := json.Unmarshal(read(t, path), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", path, diff)
	}
}
