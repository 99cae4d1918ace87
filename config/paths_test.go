package config

import (
	"strings"
	"testing"
)

func TestPaths(t *testing.T) {
	long := "/" + strings.Repeat("x", 5000)
	for _, c := range []struct {
		vars []string
		want string // config data state cache, or the error
	}{
		{[]string{"HOME=/h"}, "/h/.config/agentx /h/.local/share/agentx /h/.local/state/agentx /h/.cache/agentx"},
		{[]string{"HOME=/h", "XDG_DATA_HOME=/d e", "XDG_STATE_HOME="}, "/h/.config/agentx /d e/agentx /h/.local/state/agentx /h/.cache/agentx"},
		{[]string{"HOME=/h", "AGENTX_HOME=/one/../two"}, "/two /two /two /two/cache"},
		{[]string{"AGENTX_HOME=/two"}, "/two /two /two /two/cache"},
		{[]string{"XDG_CONFIG_HOME=/c", "XDG_DATA_HOME=/d", "XDG_STATE_HOME=/s", "XDG_CACHE_HOME=/k"}, "/c/agentx /d/agentx /s/agentx /k/agentx"},
		{nil, "HOME: neither it nor XDG_CONFIG_HOME is set; set HOME or AGENTX_HOME"},
		{[]string{"XDG_CONFIG_HOME=/c"}, "HOME: neither it nor XDG_DATA_HOME is set; set HOME or AGENTX_HOME"},
		{[]string{"HOME=h"}, `HOME: "h" is not an absolute path`},
		{[]string{"HOME=/h", "XDG_STATE_HOME=./s"}, `XDG_STATE_HOME: "./s" is not an absolute path`},
		{[]string{"HOME=/h", "AGENTX_HOME=~/x"}, `AGENTX_HOME: "~/x" is not an absolute path`},
		{[]string{"HOME=/h", "AGENTX_HOME=/a\x00b"}, "AGENTX_HOME: holds a NUL byte"},
		{[]string{"HOME=" + long}, "HOME: is a path of 5001 bytes, at most 4000 are possible"},
	} {
		p, err := FindPaths(Environ(c.vars))
		got := strings.Join([]string{p.Config, p.Data, p.State, p.Cache}, " ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%.60q\n got %s\nwant %s", c.vars, got, c.want)
		}
	}
}
