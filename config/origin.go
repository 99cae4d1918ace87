package config

// Layer is the kind of place that a value came from, from the weakest to the strongest.
type Layer string

const (
	Default     Layer = "default"
	User        Layer = "user"
	Project     Layer = "project"
	Profile     Layer = "profile" // a [profiles.NAME] table of the user's file, chosen by name
	Environment Layer = "environment"
	Flag        Layer = "flag"
)

// Origin says where a value came from.
type Origin struct {
	Layer Layer
	Where string // file:line:column, variable or flag; "" for a default
}

func (o Origin) String() string {
	if o.Where == "" {
		return string(o.Layer)
	}
	return string(o.Layer) + " " + o.Where
}

// Origin says where the value of a setting came from; key is as in Settings.
func (c Config) Origin(key string) Origin {
	if o, ok := c.origins[key]; ok {
		return o
	}
	return Origin{Layer: Default}
}
