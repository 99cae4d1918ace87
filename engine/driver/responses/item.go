package responses

// The kinds of items that a conversation is made of. All others are what the
// server does by itself.
const (
	message   = "message"
	reasoning = "reasoning"
	function  = "function_call"
)

func ours(kind string) bool { return kind == message || kind == reasoning || kind == function }

// An item is one that has begun to come.
type item struct {
	kind  string
	id    string
	index *int
	done  bool
	told  map[int]bool // places of the content from which something came

	where  string // of a thought: its summary or its content
	place  int    // of the thought that came last
	signed bool

	callID  string // the provider's
	name    string
	given   string // id of ours, once the call is open
	pending []byte // input that came before the name
	written bool   // input has come
	closed  bool
}

func (it *item) tell(place int) {
	if it.told == nil {
		it.told = map[int]bool{}
	}
	if !it.told[place] {
		it.told[place] = true
	}
}

// matches reports whether s can be the same item.
func (it *item) matches(s *sent) bool {
	return it.kind == s.Type && (it.callID == "" || s.CallID == "" || it.callID == s.CallID)
}

// items are those of an answer. A server names an item by its id, by its index,
// or by both; there are servers that change the id with every event, and some
// that give the same index to all.
type items struct {
	all     []*item
	byID    map[string]*item
	byIndex map[int]*item
	last    map[string]*item // by kind
}

func newItems() items {
	return items{byID: map[string]*item{}, byIndex: map[int]*item{}, last: map[string]*item{}}
}

const maxItems = 10_000 // of one answer

// at returns the item of a kind that id or index name, else the newest that may
// be meant, else a new one.
func (a *items) at(kind string, id []byte, index int, indexed bool) *item {
	if it := a.byID[string(id)]; it != nil && it.kind == kind {
		return it
	}
	if indexed {
		if it := a.byIndex[index]; it != nil && it.kind == kind {
			return it
		}
	}
	if it := a.last[kind]; it != nil && !it.done && !(indexed && it.index != nil) {
		return it
	}
	return a.add(kind, string(id), index, indexed)
}

func (a *items) add(kind, id string, index int, indexed bool) *item {
	it := &item{kind: kind, id: id}
	a.all = append(a.all, it)
	a.last[kind] = it
	if id != "" {
		a.byID[id] = it
	}
	if indexed {
		it.index = &index
		a.byIndex[index] = it
	}
	return it
}
