// Command agentx is a chat with language models for people who live in a
// terminal: chat, resume, and one-shot prompts for scripts.
package main

import (
	"context"
	"os"

	"agentx/cmd"
)

func main() {
	os.Exit(cmd.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
