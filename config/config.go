// Package config answers what the user has settled before a word is said: settings, providers, keys and prices. It reads flags over
// environment over profile over project file over user file over defaults into one struct that knows where each value came from. It
// asks nothing of the network and knows no conversation.
package config

import "time"

// Config is every setting with its value after all layers have been laid over each other. Read it; do not change its maps.
type Config struct {
	Model                       string        // provider/model, alias or bare name; "" lets Resolve choose
	System                      string        // system prompt; "@file" is left to the caller to read
	MaxTokens                   int           // limit of one answer in tokens; 0 is the provider's own
	Temperature                 *float64      // 0 to 2; nil is the provider's own
	Effort                      string        // none, low, medium or high; "" is the provider's own
	Timeout                     time.Duration // silence of a provider that ends a request
	MaxTurns                    int           // messages of the model in one turn; 0 is 50
	CompactAt                   int           // percent of the context in use at which a chat goes on with a summary; 0 is never
	Save                        bool          // whether sessions are kept
	Journal                     string        // how the database keeps what is not whole: wal, or delete where files cannot be shared
	Color                       string        // auto, always or never
	Theme                       string        // auto, dark, light or the name of a theme
	Typewriter                  bool          // text appears smoothly
	Thinking                    string        // what a model thinks is shown folded, always or never
	ReducedMotion, ScreenReader bool
	FullScreen                  bool   // the chat begins on the whole screen
	Mouse                       bool   // which takes the mouse
	ReadingWidth                int    // cells that a line of prose takes at most; 0 is all there are
	Notify                      string // how somebody who looks elsewhere is told that an answer has ended: auto, bell, desktop or off
	Title                       bool   // the window is called after the session
	Progress                    bool   // the terminal shows that an answer is on its way
	PromptMarks                 bool   // the terminal is told where prompts begin
	ViKeys                      bool   // the composer has the keys of vi
	Keyring                     bool   // whether the keyring of the system may be used for API keys
	Budget                      Budget

	Aliases   map[string]string
	Bindings  map[string][]string // action → keys, from [keys]; an empty list unbinds
	Providers map[string]Provider // built in and configured ones
	Models    map[string]Override // prices and windows from [models."provider/model"]

	Paths    Paths
	Profile  string
	Warnings []string // what was ignored and why, a line each

	origins map[string]Origin
	env     Env
}

// Budget is what may be spent, in USD; nil is without limit, 0 is nothing at all. Days and months are those of UTC.
type Budget struct {
	Run                 *float64 // in one run of the program
	Session, Day, Month *float64
	Unpriced            string // refuse or allow: what becomes of a model whose price is unknown, where there is a limit
	Large               int    // tokens from which on it is said before a request what it will about cost
}
