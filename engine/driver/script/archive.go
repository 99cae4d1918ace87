package script

import (
	"bytes"
	"strings"
)

// A File is a section of an archive.
type File struct {
	Name string
	Data []byte
}

// ParseArchive splits a text in the txtar format into its sections: each begins
// with a line "-- name --". What stands before the first is a comment.
func ParseArchive(text []byte) []File {
	var files []File
	for line := range bytes.Lines(text) {
		if name, ok := marker(string(line)); ok {
			files = append(files, File{Name: name})
			continue
		}
		if len(files) > 0 {
			last := &files[len(files)-1]
			last.Data = append(last.Data, line...)
		}
	}
	return files
}

// marker is the name in a line that begins a section.
func marker(line string) (name string, ok bool) {
	line = strings.TrimRight(line, "\r\n")
	if !strings.HasPrefix(line, "-- ") || !strings.HasSuffix(line, " --") || len(line) < len("-- x --") {
		return "", false
	}
	name = strings.TrimSpace(line[len("-- ") : len(line)-len(" --")])
	return name, name != ""
}

// FormatArchive is the text that ParseArchive reads.
func FormatArchive(files []File) []byte {
	var b bytes.Buffer
	for _, f := range files {
		b.WriteString("-- " + f.Name + " --\n")
		b.Write(f.Data)
		if n := len(f.Data); n > 0 && f.Data[n-1] != '\n' {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// Section returns the data of the section that is called name.
func Section(files []File, name string) ([]byte, bool) {
	for _, f := range files {
		if f.Name == name {
			return f.Data, true
		}
	}
	return nil, false
}
