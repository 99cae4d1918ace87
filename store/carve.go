package store

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
)

// A carving reads rows out of the pages of a database file that SQLite no longer
// reads, each page for itself: what one page has lost does not take the others
// along. What is committed in the write-ahead log counts, what was deleted not.
type carving struct {
	file, log *os.File
	size      int           // of a page
	usable    int           // of it
	count     int           // of pages
	newer     map[int]int64 // offsets in the log, by page
	free      map[int]bool  // pages that hold nothing any more
	freeKnown bool          // which ones those are
}

// A cell is a row of a table, or an entry of an index, as it lies in a page.
type cell struct {
	key    int64 // rowid; 0 in an index
	index  bool
	values []any // nil, int64, float64, string or []byte
}

// Kinds of pages.
const (
	pageIndexInner = 0x02
	pageIndexLeaf  = 0x0a
	pageTableLeaf  = 0x0d
)

const usualPage = 4096

// carve opens the database at path for reading it page by page.
func carve(path string) (*carving, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	c := &carving{file: f, size: usualPage, usable: usualPage, newer: map[int]int64{}, free: map[int]bool{}}
	switch log, err := os.Open(path + "-wal"); {
	case err == nil:
		c.log = log
		c.readLog()
	case !errors.Is(err, fs.ErrNotExist): // what is newest would be missing, and nobody told
		return nil, errors.Join(err, f.Close())
	}
	c.readHeader()
	c.readFree()
	return c, nil
}

func (c *carving) close() error {
	if c.log != nil {
		c.log.Close() // it was only read
	}
	return c.file.Close()
}

// readHeader finds out how large pages are and how many there are. Where the
// first page says nothing, they are as large as ours always are.
func (c *carving) readHeader() {
	head, ok := c.page(1)
	if ok && string(head[:16]) == "SQLite format 3\x00" {
		size := int(binary.BigEndian.Uint16(head[16:]))
		if size == 1 {
			size = 65536
		}
		if size >= 512 && size&(size-1) == 0 {
			c.size, c.usable = size, size-int(head[20])
			c.freeKnown = true
		}
	}
	last := 0 // page that there is
	if info, err := c.file.Stat(); err == nil {
		last = int((info.Size() + int64(c.size) - 1) / int64(c.size))
	}
	for n := range c.newer {
		last = max(last, n)
	}
	if c.count == 0 || c.count > last {
		c.count = last
	}
}

// readFree follows the list of pages that hold nothing any more.
func (c *carving) readFree() {
	if !c.freeKnown {
		return
	}
	head, _ := c.page(1)
	for trunk := int(binary.BigEndian.Uint32(head[32:])); trunk != 0; {
		p, ok := c.page(trunk)
		n := 0
		if ok {
			n = int(binary.BigEndian.Uint32(p[4:]))
		}
		if !ok || c.free[trunk] || n > c.usable/4-2 {
			c.freeKnown = false
			return
		}
		c.free[trunk] = true
		for i := range n {
			c.free[int(binary.BigEndian.Uint32(p[8+4*i:]))] = true
		}
		trunk = int(binary.BigEndian.Uint32(p))
	}
}

// readLog notes which pages are newer in the write-ahead log, up to the last
// transaction that is whole.
func (c *carving) readLog() {
	var head [32]byte
	if _, err := c.log.ReadAt(head[:], 0); err != nil {
		return
	}
	magic := binary.BigEndian.Uint32(head[:])
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	size := int(binary.BigEndian.Uint32(head[8:]))
	var sum walSum
	sum.add(order, head[:24])
	if magic&^1 != 0x377f0682 || size < 512 || size > 65536 || size&(size-1) != 0 || !sum.is(head[24:]) {
		return
	}
	c.size, c.usable = size, size
	frame, pending := make([]byte, 24+size), map[int]int64{}
	for at := int64(32); ; at += int64(len(frame)) {
		if _, err := c.log.ReadAt(frame, at); err != nil {
			return
		}
		sum.add(order, frame[:8])
		sum.add(order, frame[24:])
		if string(frame[8:16]) != string(head[16:24]) || !sum.is(frame[16:]) {
			return
		}
		pending[int(binary.BigEndian.Uint32(frame))] = at + 24
		if end := int(binary.BigEndian.Uint32(frame[4:])); end > 0 { // a commit
			for n, at := range pending {
				c.newer[n] = at
			}
			clear(pending)
			c.count = end
		}
	}
}

// A walSum is the checksum of a write-ahead log.
type walSum [2]uint32

func (s *walSum) add(order binary.ByteOrder, b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		s[0] += order.Uint32(b) + s[1]
		s[1] += order.Uint32(b[4:]) + s[0]
	}
}

func (s *walSum) is(b []byte) bool {
	return s[0] == binary.BigEndian.Uint32(b) && s[1] == binary.BigEndian.Uint32(b[4:])
}

// page returns a page, or false where there is none. The end of a file that was
// cut is filled with zeros.
func (c *carving) page(n int) ([]byte, bool) {
	if n < 1 || c.count > 0 && n > c.count {
		return nil, false
	}
	p := make([]byte, c.size)
	if at, ok := c.newer[n]; ok {
		_, err := c.log.ReadAt(p, at)
		return p, err == nil
	}
	read, err := c.file.ReadAt(p, int64(n-1)*int64(c.size))
	return p, read > 0 && (err == nil || errors.Is(err, io.EOF))
}

// cells returns what can be read of the rows and entries in a page. What is not
// whole is left out.
func (c *carving) cells(n int) []cell {
	p, ok := c.page(n)
	if !ok || c.free[n] {
		return nil
	}
	head := 0
	if n == 1 {
		head = 100
	}
	kind, pointers := p[head], head+8
	switch kind {
	case pageIndexInner:
		pointers = head + 12
	case pageIndexLeaf, pageTableLeaf:
	default:
		return nil
	}
	var all []cell
	for i := range int(binary.BigEndian.Uint16(p[head+3:])) {
		at := pointers + 2*i
		if at+2 > c.usable {
			break
		}
		if one, ok := c.cell(p, kind, int(binary.BigEndian.Uint16(p[at:]))); ok {
			all = append(all, one)
		}
	}
	return all
}

// cell reads the one that begins at a place of a page.
func (c *carving) cell(p []byte, kind byte, at int) (cell, bool) {
	one := cell{index: kind != pageTableLeaf}
	if kind == pageIndexInner {
		at += 4 // the page below
	}
	if at <= 0 || at >= c.usable {
		return one, false
	}
	rest := p[at:c.usable]
	length, n := sqliteVarint(rest)
	rest = rest[n:]
	most := (c.usable-12)*64/255 - 23 // that lies here, of an entry
	if kind == pageTableLeaf {
		var key int64
		key, n = sqliteVarint(rest)
		rest, one.key = rest[n:], key
		most = c.usable - 35
	}
	payload, ok := c.payload(rest, length, int64(most))
	if ok {
		one.values, ok = record(payload)
	}
	return one, ok
}

// payload is a record of which the beginning lies in a page, and what has no
// room there in a chain of others.
func (c *carving) payload(rest []byte, length, most int64) ([]byte, bool) {
	if length < 2 || length > int64(c.count)*int64(c.size) {
		return nil, false
	}
	if length <= most {
		return rest[:min(length, int64(len(rest)))], length <= int64(len(rest))
	}
	least := (int64(c.usable)-12)*32/255 - 23
	here := least + (length-least)%int64(c.usable-4)
	if here > most {
		here = least
	}
	if here+4 > int64(len(rest)) {
		return nil, false
	}
	payload := append([]byte(nil), rest[:here]...)
	for next := int(binary.BigEndian.Uint32(rest[here:])); int64(len(payload)) < length; {
		p, ok := c.page(next)
		if !ok {
			return nil, false
		}
		payload = append(payload, p[4:min(int64(c.usable), 4+length-int64(len(payload)))]...)
		next = int(binary.BigEndian.Uint32(p))
	}
	return payload, true
}

// record takes a record apart.
func record(b []byte) ([]any, bool) {
	length, n := sqliteVarint(b)
	if length < int64(n) || length > int64(len(b)) {
		return nil, false
	}
	types, body := b[n:length], b[length:]
	var values []any
	for len(types) > 0 {
		kind, n := sqliteVarint(types)
		if n == 0 {
			return nil, false
		}
		types = types[n:]
		size, ok := sizeOf(kind)
		if !ok || size > int64(len(body)) {
			return nil, false
		}
		values, body = append(values, valueOf(kind, body[:size])), body[size:]
	}
	return values, len(body) == 0
}

// sizeOf is how many bytes a value of a serial type takes.
func sizeOf(kind int64) (int64, bool) {
	switch {
	case kind >= 12:
		return (kind - 12) / 2, true
	case kind < 0 || kind == 10 || kind == 11:
		return 0, false
	}
	return []int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}[kind], true
}

func valueOf(kind int64, b []byte) any {
	switch {
	case kind == 0:
		return nil
	case kind == 7:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	case kind == 8 || kind == 9:
		return kind - 8
	case kind >= 12 && kind%2 == 1:
		return string(b)
	case kind >= 12:
		return b
	}
	v := int64(0)
	if b[0]&0x80 != 0 {
		v = -1
	}
	for _, x := range b {
		v = v<<8 | int64(x)
	}
	return v
}

// sqliteVarint reads an integer of one to nine bytes, the high ones first. It
// takes 0 bytes where b ends too early.
func sqliteVarint(b []byte) (int64, int) {
	var v uint64
	for i, x := range b {
		if i == 8 {
			return int64(v<<8 | uint64(x)), 9
		}
		if v = v<<7 | uint64(x&0x7f); x&0x80 == 0 {
			return int64(v), i + 1
		}
	}
	return 0, 0
}
