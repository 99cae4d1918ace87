package wire

// who is the provider as it calls itself, where that is known.
func (c Call) who() string {
	switch c.Provider {
	case "anthropic":
		return "Anthropic"
	case "deepseek":
		return "DeepSeek"
	case "gemini":
		return "Gemini"
	case "groq":
		return "Groq"
	case "mistral":
		return "Mistral"
	case "ollama":
		return "Ollama"
	case "openai":
		return "OpenAI"
	case "openrouter":
		return "OpenRouter"
	}
	return c.Provider
}
