//go:build unix

package cmd

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// answerTime is how long a terminal may take to say what its background is.
const answerTime = 250 * time.Millisecond

// lightBackground asks the terminal for the colour of its background. What it
// answers is read and not shown; signals still work meanwhile. A terminal that
// does not answer is taken for a dark one.
func lightBackground(in, out *os.File) bool {
	fd := int(in.Fd())
	cooked, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return false
	}
	quiet := *cooked
	quiet.Lflag &^= unix.ECHO | unix.ICANON
	quiet.Cc[unix.VMIN], quiet.Cc[unix.VTIME] = 0, 0
	if unix.IoctlSetTermios(fd, setTermios, &quiet) != nil {
		return false
	}
	defer func() { _ = unix.IoctlSetTermios(fd, setTermios, cooked) }()
	// Every terminal answers the second question, so it ends the wait for the first.
	if _, err := out.WriteString("\x1b]11;?\x1b\\\x1b[c"); err != nil {
		return false
	}
	return light(answer(fd, answerTime))
}

// answer reads until a terminal has said what it is.
func answer(fd int, limit time.Duration) []byte {
	var got []byte
	end := time.Now().Add(limit)
	for buf := make([]byte, 256); len(got) < 4096; {
		left := time.Until(end)
		if left <= 0 {
			break
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		if err == unix.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			break
		}
		if n, err = unix.Read(fd, buf); n <= 0 || err != nil {
			break
		}
		got = append(got, buf[:n]...)
		if at := bytes.Index(got, []byte("\x1b[?")); at >= 0 && bytes.IndexByte(got[at:], 'c') >= 0 {
			break
		}
	}
	return got
}

// light reports whether an answer names a light colour.
func light(answer []byte) bool {
	m := regexp.MustCompile(`\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})`).FindSubmatch(answer)
	if m == nil {
		return false
	}
	part := func(b []byte) float64 {
		v, _ := strconv.ParseUint(string(b), 16, 32) // the pattern lets nothing else through
		return float64(v) / float64(uint64(1)<<(4*len(b))-1)
	}
	return 0.299*part(m[1])+0.587*part(m[2])+0.114*part(m[3]) > 0.5
}
