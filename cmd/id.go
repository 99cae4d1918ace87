package cmd

import (
	"crypto/rand"
	"encoding/base32"
	"time"

	"agentx/engine/event"
)

// newID mints an id: the prefix, the time and chance, so that ids of one prefix
// sort by the time of their making.
func newID(prefix string, at time.Time) string {
	var b [10]byte
	ms := at.UnixMilli()
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	_, _ = rand.Read(b[6:]) // never fails
	return prefix + "_" + encode(b[:])
}

// newSessionID mints an id that a person can type the beginning of.
func newSessionID() event.SessionID {
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails
	return event.SessionID(encode(b[:]))
}

// encode writes bytes in letters and digits that are not mistaken for each
// other.
func encode(b []byte) string {
	return base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding).EncodeToString(b)
}
