package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

// A Problem is what a provider says about a failure.
type Problem struct {
	Message string
	Kind    string // its type
	Code    string
	Status  int           // where it names one
	After   time.Duration // in which it can be asked again, where that is all that is wrong
}

// ParseProblem reads the error in a JSON body, in any of the shapes in which
// providers write one. It reports false where there is none.
func ParseProblem(body []byte) (Problem, bool) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 || (body[0] != '{' && body[0] != '[') {
		return Problem{}, false
	}
	if body[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(body, &list) != nil || len(list) == 0 {
			return Problem{}, false
		}
		return ParseProblem(list[0])
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(body, &top) != nil {
		return Problem{}, false
	}
	if inner, ok := top["error"]; ok && !bytes.Equal(inner, []byte("null")) {
		if s, ok := scalar(inner); ok {
			return Problem{Message: cmp.Or(said(top), s), Kind: s}, true
		}
		var m map[string]json.RawMessage
		if json.Unmarshal(inner, &m) == nil {
			return problemIn(m), true
		}
		return ParseProblem(inner)
	}
	if said(top) == "" || has(top, "choices") || has(top, "content") {
		return Problem{}, false
	}
	return problemIn(top), true
}

func has(m map[string]json.RawMessage, key string) bool { _, ok := m[key]; return ok }

func problemIn(m map[string]json.RawMessage) Problem {
	kind, _ := scalar(m["type"])
	code, _ := scalar(m["code"])
	status, _ := scalar(m["status_code"])
	if status == "" {
		status = code
	}
	p := Problem{Message: said(m), Kind: kind, Code: code}
	if n, err := strconv.Atoi(status); err == nil && n >= 400 && n < 600 {
		p.Status = n
	}
	if p.Message == "" {
		p.Message = cmp.Or(kind, code)
	}
	p.After = pause(m["details"])
	var behind struct{ Raw string } // what the provider behind a gateway said
	if json.Unmarshal(m["metadata"], &behind) == nil && behind.Raw != "" {
		p.Message += ": " + behind.Raw
	}
	return p
}

// pause is how long to wait for more of a quota, as Google says it among the
// details of an error. For one of a day, or of nothing at all, that it says too
// means nothing.
func pause(details json.RawMessage) time.Duration {
	var list []struct {
		Delay      string `json:"retryDelay"`
		Violations []struct {
			ID    string `json:"quotaId"`
			Value string `json:"quotaValue"`
		} `json:"violations"`
	}
	if err := json.Unmarshal(details, &list); err != nil && !Mistyped(err) {
		return 0
	}
	var after time.Duration
	for _, d := range list {
		for _, v := range d.Violations {
			if strings.Contains(v.ID, "PerDay") || v.Value == "0" {
				return 0
			}
		}
		if delay, err := time.ParseDuration(d.Delay); err == nil {
			after = max(after, delay)
		}
	}
	return after
}

// said is the sentence in an error object.
func said(m map[string]json.RawMessage) string {
	for _, key := range []string{"message", "detail", "error_description", "msg", "details"} {
		if s, ok := scalar(m[key]); ok && s != "" {
			return s
		}
		if raw, ok := m[key]; ok && len(raw) > 0 && raw[0] == '[' {
			if s := detailed(raw); s != "" {
				return s
			}
		}
	}
	return ""
}

// detailed is the first of the sentences in a list, behind the field that it is
// about.
func detailed(raw json.RawMessage) string {
	var list []struct {
		Msg string            `json:"msg"`
		Loc []json.RawMessage `json:"loc"`
	}
	if err := json.Unmarshal(raw, &list); err != nil && !Mistyped(err) || len(list) == 0 || list[0].Msg == "" {
		return ""
	}
	var field []string
	for _, word := range list[0].Loc {
		if s, ok := scalar(word); ok {
			field = append(field, s)
		}
	}
	if len(field) == 0 {
		return list[0].Msg
	}
	return strings.Join(field, ".") + ": " + list[0].Msg
}

// scalar is a JSON string or number as text.
func scalar(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 {
		return "", false
	}
	if raw[0] == '"' {
		var s string
		return s, json.Unmarshal(raw, &s) == nil
	}
	if raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' {
		return string(raw), true
	}
	return "", false
}

// CodeOf says what kind of failure an HTTP status and a problem are. What the
// provider names is more exact than the status.
func CodeOf(status int, p Problem) event.ErrorCode {
	if code := named(p); code != "" {
		return code
	}
	switch {
	case status == 401:
		return event.CodeAuthentication
	case status == 402:
		return event.CodeQuota
	case status == 403:
		return event.CodePermission
	case status == 404, status == 410:
		return event.CodeNotFound
	case status == 408, status == 504:
		return event.CodeTimeout
	case status == 413:
		return event.CodeContextOverflow
	case status == 429:
		return event.CodeRateLimit
	case status == 503, status == 529:
		return event.CodeOverloaded
	case status == 409, status >= 500:
		return event.CodeServer
	case status >= 400:
		return event.CodeInvalidRequest
	}
	return event.CodeServer
}

// named is the code of what the provider names, if that is known.
func named(p Problem) event.ErrorCode {
	text := strings.ToLower(p.Message)
	for _, name := range []string{strings.ToLower(p.Code), strings.ToLower(p.Kind)} {
		switch name {
		case "context_length_exceeded", "too_many_prompt_tokens", "exceed_context_size_error", "request_too_large":
			return event.CodeContextOverflow
		case "insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance", "credit_balance_too_low":
			return event.CodeQuota
		case "content_filter", "content_policy_violation", "responsibleaipolicyviolation":
			return event.CodeContentFilter
		case "overloaded_error", "overloaded", "service_unavailable":
			return event.CodeOverloaded
		case "rate_limit_error", "rate_limit_exceeded", "ratelimitreached":
			if !exhausted(text) {
				return event.CodeRateLimit
			}
		case "authentication_error", "invalid_api_key":
			return event.CodeAuthentication
		case "permission_error":
			return event.CodePermission
		case "model_not_found", "not_found_error":
			return event.CodeNotFound
		case "timeout_error":
			return event.CodeTimeout
		}
	}
	switch {
	case p.After > 0:
		return event.CodeRateLimit // whatever it says about plans and bills
	case strangeKey(text):
		return event.CodeAuthentication
	case exhausted(text):
		return event.CodeQuota
	case overflows(text):
		return event.CodeContextOverflow
	case strings.Contains(text, "no endpoints found that support"):
		return event.CodeInvalidRequest // the model is there, and reads no such thing
	}
	return ""
}

// strangeKey reports whether text is about the key: some providers call that a
// bad request.
func strangeKey(text string) bool {
	return containsAny(text, "api key not valid", "incorrect api key", "invalid api key", "api key expired", "api key was reported as leaked", "unregistered callers")
}

// exhausted reports whether text says that waiting will not help.
func exhausted(text string) bool {
	return containsAny(text, "insufficient_quota", "exceeded your current quota", "credit balance", "insufficient credit", "out of credits",
		"spend limit", "spending limit", "usage limit", "billing", "insufficient balance", "payment required")
}

func overflows(text string) bool {
	return containsAny(text, "context length", "context window", "context_length", "prompt is too long", "prompt too long",
		"too many tokens", "maximum context", "maximum prompt length", "input is too long", "exceeds the available context", "all messages is too long") ||
		strings.Contains(text, "token count") && strings.Contains(text, "exceeds the maximum")
}

func containsAny(text string, phrases ...string) bool {
	for _, p := range phrases {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// passing reports whether a failure of this kind may be over soon.
func passing(code event.ErrorCode) bool {
	switch code {
	case event.CodeRateLimit, event.CodeOverloaded, event.CodeServer, event.CodeNetwork, event.CodeTimeout, event.CodeIncomplete:
		return true
	}
	return false
}

// FaultFrom makes a fault of a problem that came with status, or inside a
// stream where status is 0.
func (c Call) FaultFrom(status int, p Problem) *engine.Fault {
	if p.Status != 0 && (status == 0 || status == http.StatusOK) {
		status = p.Status
	}
	code := CodeOf(status, p)
	if status == 0 && strings.HasPrefix(p.Kind, "invalid_request") && code == event.CodeServer {
		code = event.CodeInvalidRequest
	}
	return &engine.Fault{Code: code, Message: c.sentence(code, status, p.Message), Retryable: passing(code)}
}

// sentence says to people what happened.
func (c Call) sentence(code event.ErrorCode, status int, detail string) string {
	s := c.who() + " " + c.verdict(code)
	if status != 0 && status != http.StatusOK {
		s += fmt.Sprintf(" (%d)", status)
	}
	if detail = strings.TrimRight(c.clean(detail), ". "); detail != "" {
		s += ": " + detail
	}
	return s
}

func (c Call) verdict(code event.ErrorCode) string {
	switch code {
	case event.CodeAuthentication:
		if len(c.Secrets) == 0 {
			return "wants a key, and there is none"
		}
		return "does not accept the key" + prefixed(" from ", c.KeySource)
	case event.CodePermission:
		return "does not allow this"
	case event.CodeRateLimit:
		return "was asked too often"
	case event.CodeQuota:
		return "reports that the quota or credit is used up"
	case event.CodeNotFound:
		return "does not know the model or the address"
	case event.CodeContextOverflow:
		return "cannot read that much: the conversation with its files is longer than the model's context"
	case event.CodeOverloaded:
		return "is overloaded"
	case event.CodeTimeout:
		return "took too long"
	case event.CodeContentFilter:
		return "refused the content"
	case event.CodeServer:
		return "failed"
	}
	return "refused the request"
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// clean makes text from outside fit to be shown: no secrets, one line, short.
func (c Call) clean(s string) string { return Visible(Redact(s, c.Secrets...)) }

func (c Call) fault(code event.ErrorCode, format string, args ...any) *engine.Fault {
	return &engine.Fault{Code: code, Message: fmt.Sprintf(format, args...), Retryable: passing(code)}
}

// refused makes a fault of an answer that is not a success, and says how long
// its text asks to wait.
func (c Call) refused(resp *http.Response) (*engine.Fault, time.Duration) {
	if resp.StatusCode < 300 {
		return c.fault(event.CodeProtocol, "%s answers with status %d, which is no answer", c.who(), resp.StatusCode), 0
	}
	if resp.StatusCode < 400 {
		where := ""
		if u, err := url.Parse(resp.Header.Get("Location")); err == nil {
			where = u.Host
		}
		return c.fault(event.CodeNotFound, "%s answers with a redirect%s (%d), which is not followed", c.who(), prefixed(" to ", c.clean(where)), resp.StatusCode), 0
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	p, ok := ParseProblem(body)
	if !ok && !looksLikeHTML(body) {
		p.Message = string(body)
	}
	return c.FaultFrom(resp.StatusCode, p), p.After
}

const maxProblem = 64 << 10

// Said returns the fault of a response that is not a success, and nil of one
// that is.
func (c Call) Said(resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	f, _ := c.refused(resp)
	return f
}

func looksLikeHTML(b []byte) bool {
	b = bytes.TrimSpace(b)
	return len(b) > 0 && b[0] == '<'
}

// unreachable makes a fault of a request that found no answer.
func (c Call) unreachable(err error) *engine.Fault {
	if f, ok := errors.AsType[*engine.Fault](err); ok {
		return f
	}
	f := c.broken(err)
	f.Err = err
	return f
}

// Broken says in words what happened to a connection to an address.
func Broken(address string, err error) error { return Call{URL: address}.broken(err) }

// broken says what happened to a connection.
func (c Call) broken(err error) *engine.Fault {
	host := c.host()
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "proxyconnect" {
		return c.fault(event.CodeNetwork, "the proxy for %s cannot be reached: %s", host, c.clean(op.Err.Error()))
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return c.fault(event.CodeNetwork, "%s cannot be found: no such host, or no network", host)
		}
		return c.fault(event.CodeNetwork, "%s cannot be found: %s", host, c.clean(dns.Err))
	}
	text := c.clean(err.Error())
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return c.fault(event.CodeNetwork, "nothing answers at %s: connection refused", host)
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return c.fault(event.CodeNetwork, "%s reset the connection", host)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return c.fault(event.CodeNetwork, "%s closed the connection without an answer", host)
	case containsAny(text, "tls:", "x509:", "certificate", "server gave HTTP response to HTTPS client"):
		f := c.fault(event.CodeNetwork, "no safe connection to %s (TLS or certificate): %s", host, text)
		f.Retryable = false
		return f
	case containsAny(text, "malformed HTTP", "headers exceeded", "unexpected EOF reading"):
		return c.fault(event.CodeProtocol, "%s does not speak HTTP as expected: %s", host, text)
	}
	return c.fault(event.CodeNetwork, "%s cannot be reached: %s", host, text)
}

func (c Call) host() string {
	if u, err := url.Parse(c.URL); err == nil && u.Host != "" {
		return u.Host
	}
	return c.Provider
}

// tryAgain reports whether a request that found no answer may find one: it did
// not connect, or the connection went before anything came back.
func tryAgain(err error) bool {
	for _, gone := range []error{io.EOF, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed} {
		if errors.Is(err, gone) {
			return true
		}
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect")
}

// spoken is d as people say it: 24h, 90s, 2m30s.
func spoken(d time.Duration) string {
	s := d.Round(time.Second).String()
	s = strings.TrimSuffix(s, "0s")
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	if s == "" || !strings.ContainsAny(s[len(s)-1:], "hms") {
		return d.Round(time.Second).String()
	}
	return s
}
