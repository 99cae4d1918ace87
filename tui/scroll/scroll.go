// Package scroll is a window on a list that is too long to be laid out. The
// window stands at a row of an item, and not at a row of the whole, whose rows
// nobody counts: items are asked for their rows only where the window is, so
// that the first of ten thousand is as near as the last. It knows no screen, and
// nothing of what the items say.
package scroll

// A List is what is looked at. Keys grow from item to item and stay with them,
// whatever comes before, behind or between.
type List interface {
	Len() int
	Key(i int) int64
	// Index returns the item of that key, or of the nearest below it; the first
	// where there is none.
	Index(key int64) int
	// Rows lays an item out. It may have none.
	Rows(i int) []string
}

// A View is where the window stands. The zero value follows the end of the list,
// and so does every window that was scrolled there.
type View struct {
	free bool  // it stays where it is
	key  int64 // of the item
	row  int   // of the item, that the window begins with; may lie before it or behind it
}

// A Row is a row in the window.
type Row struct {
	Item, N int // it is the item's nth, from 0
	Text    string
}

// A place is a row of an item, found.
type place struct{ item, row int }

// Following reports whether the window stays at the end, whatever comes.
func (v View) Following() bool { return !v.free }

// Rows are the rows in a window of so many, from its first.
func (v View) Rows(l List, height int) []Row {
	if l.Len() == 0 || height <= 0 {
		return nil
	}
	return down(l, v.begin(l, height), height)
}

// Scroll moves the window by so many rows, up where they are less than none.
func (v View) Scroll(l List, height, by int) View {
	if l.Len() == 0 || by > 0 && !v.free {
		return v
	}
	p := v.begin(l, height)
	return at(l, walk(l, place{p.item, p.row + by})).settle(l, height)
}

// Top begins with the first item.
func (v View) Top(l List, height int) View {
	if l.Len() == 0 {
		return v
	}
	return at(l, place{}).settle(l, height)
}

// To brings a row of an item into the window, which stays where it is if the row
// is there already.
func (v View) To(l List, height, item, row int) View {
	for _, r := range v.Rows(l, height) {
		if r.Item == item && r.N == row {
			return v
		}
	}
	return v.Put(l, height, item, row, height/3)
}

// Put begins the window so many rows above a row of an item.
func (v View) Put(l List, height, item, row, above int) View {
	return at(l, walk(l, place{item, row - above})).settle(l, height)
}

func at(l List, p place) View { return View{free: true, key: l.Key(p.item), row: p.row} }

// settle lets a window that has come to the end follow it.
func (v View) settle(l List, height int) View {
	p := place{l.Index(v.key), v.row}
	if len(down(l, p, height+1)) <= height {
		return View{}
	}
	return v
}

// begin finds the first row of the window. One that would reach behind the end
// begins earlier.
func (v View) begin(l List, height int) place {
	if v.free {
		p := walk(l, place{l.Index(v.key), v.row})
		if len(down(l, p, height)) == height {
			return p
		}
	}
	last := l.Len() - 1
	return walk(l, place{last, len(l.Rows(last)) - height})
}

// walk finds a row that is counted from an item, but may lie in another. Before
// the first row of all is the first.
func walk(l List, p place) place {
	for p.row < 0 {
		if p.item == 0 {
			return place{}
		}
		p.item--
		p.row += len(l.Rows(p.item))
	}
	for p.item < l.Len()-1 {
		n := len(l.Rows(p.item))
		if p.row < n {
			break
		}
		p.item, p.row = p.item+1, p.row-n
	}
	return p
}

// down are at most n rows from p on.
func down(l List, p place, n int) []Row {
	rows := make([]Row, 0, n)
	for i, from := p.item, p.row; i < l.Len() && len(rows) < n; i, from = i+1, 0 {
		texts := l.Rows(i)
		for y := from; y < len(texts) && len(rows) < n; y++ {
			rows = append(rows, Row{i, y, texts[y]})
		}
	}
	return rows
}
