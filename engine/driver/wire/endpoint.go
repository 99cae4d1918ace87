package wire

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"agentx/engine"
	"agentx/engine/event"
)

// Endpoint returns the address of path below base, or a fault that says what is
// wrong with base. User names and passwords have no place in an address.
func Endpoint(base, path string) (string, error) {
	base = strings.TrimRight(base, "/")
	if strings.ContainsAny(base, " \t\r\n") {
		return "", badBase("has a space in it")
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return "", badBase("is not an address")
	case u.User != nil:
		return "", badBase("has a user name or password in it; put the key into its own setting")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", badBase("does not begin with https:// or http://")
	case u.Hostname() == "":
		return "", badBase("names no host")
	case u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(base, "?#"):
		return "", badBase("has a query or a fragment")
	}
	return base + path, nil
}

func badBase(what string) error {
	return &engine.Fault{Code: event.CodeConfiguration, Message: "the base URL " + what}
}

// loopback reports whether host is this machine, whatever a name server says.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// guard refuses to send a secret where others can read it.
func guard(req *http.Request, secrets []string) error {
	if len(secrets) == 0 || req.URL.Scheme == "https" || loopback(req.URL.Hostname()) {
		return nil
	}
	return &engine.Fault{
		Code:    event.CodeConfiguration,
		Message: "the base URL http://" + req.URL.Host + " would send the key unencrypted; use https",
	}
}
