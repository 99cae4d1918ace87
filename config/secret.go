package config

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

const longestKey = 16 << 10 // bytes; the longest tokens in use are signed ones of about 4 kB

// Secret is an API key. However it is printed, logged or encoded, it shows as [redacted]; only Reveal gives the text. It sits behind
// a pointer so that fmt, which calls no methods on unexported fields, prints an address there and not the key.
type Secret struct{ text *string }

// NewSecret takes a key as it came from source. A key that could not stand in an HTTP header, or was pasted with something else
// around it, is an error that names source and not the key.
func NewSecret(source, text string) (Secret, error) {
	if err := checkKey(text); err != nil {
		return Secret{}, &Error{Where: source, Err: err}
	}
	return Secret{&text}, nil
}

func checkKey(text string) error {
	switch {
	case text == "":
		return errors.New("the key is empty")
	case len(text) > longestKey:
		return fmt.Errorf("the key is %d bytes long, at most %d are possible", len(text), longestKey)
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\n' || c == '\r':
			return errors.New("the key contains a line break")
		case c == ' ' || c == '\t':
			return errors.New("the key contains a space")
		case c < ' ' || c == 0x7f:
			return errors.New("the key contains a control character")
		case c > 0x7f:
			return errors.New("the key contains a character that is not ASCII")
		}
	}
	return nil
}

// Reveal is the key itself, for the header of a request and nothing else.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero says that there is no key.
func (s Secret) IsZero() bool { return s.text == nil }

// Equal compares in constant time.
func (s Secret) Equal(other Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(other.Reveal())) == 1
}

func (s Secret) String() string               { return redacted }
func (s Secret) GoString() string             { return redacted }
func (s Secret) Format(f fmt.State, _ rune)   { _, _ = io.WriteString(f, redacted) }
func (s Secret) LogValue() slog.Value         { return slog.StringValue(redacted) }
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
