package bus

import "agentx/engine/event"

// A registry finds the subscriptions that an event may concern without looking
// at the others, however many there are.
type registry struct {
	everybody ears // who listens whatever the agent
	agents    map[event.AgentID]*ears
}

// ears are subscriptions by what they want to hear.
type ears struct {
	byType map[string]*list // those that named types
	all    list             // those that want every type
}

func (r *registry) add(e *entry) {
	to := &r.everybody
	if e.Agent != "" {
		if to = r.agents[e.Agent]; to == nil {
			to = &ears{}
			if r.agents == nil {
				r.agents = map[event.AgentID]*ears{}
			}
			r.agents[e.Agent] = to
		}
	}
	to.add(e)
}

func (r *registry) forget(e *entry) {
	if e.Agent == "" {
		r.everybody.forget(e)
		return
	}
	if from := r.agents[e.Agent]; from.forget(e) {
		delete(r.agents, e.Agent)
	}
}

func (s *ears) add(e *entry) {
	if len(e.Types) == 0 {
		s.all.add(e)
	}
	for _, name := range e.Types {
		if s.byType == nil {
			s.byType = map[string]*list{}
		}
		if s.byType[name] == nil {
			s.byType[name] = &list{}
		}
		s.byType[name].add(e)
	}
}

// forget reports whether nobody is left.
func (s *ears) forget(e *entry) (empty bool) {
	if len(e.Types) == 0 {
		s.all.forget()
	}
	for _, name := range e.Types {
		if s.byType[name].forget() == 0 {
			delete(s.byType, name)
		}
	}
	return len(s.byType) == 0 && len(s.all.entries) == 0
}

// An audience is those whom an event may concern, in four lists that are each
// in order.
type audience [4][]*entry

func (r *registry) audience(agent event.AgentID, name string) (a audience) {
	r.everybody.hear(name, &a[0], &a[1])
	if agent != "" && len(r.agents) > 0 {
		if s := r.agents[agent]; s != nil {
			s.hear(name, &a[2], &a[3])
		}
	}
	return a
}

func (s *ears) hear(name string, typed, all *[]*entry) {
	if l := s.byType[name]; l != nil {
		*typed = l.entries
	}
	*all = s.all.entries
}

// next takes the one who comes first.
func (a *audience) next() *entry {
	var first *entry
	from := 0
	for i, list := range a {
		if len(list) > 0 && (first == nil || list[0].before(first)) {
			first, from = list[0], i
		}
	}
	if first != nil {
		a[from] = a[from][1:]
	}
	return first
}
