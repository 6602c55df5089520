package bot

// Requirements are what a bot needs of the machine that it runs on, as phrases for sentences.
type Requirements struct {
	Answers     string // time from the end of a question to the first sound of the answer
	Memory      string // of the bot and its language model together
	BotMemory   string // of the bot's process alone
	ModelMemory string // of the language model in Ollama
	Downloads   string // Python packages and models, the language model included, without Ollama
	Ollama      string // size of Ollama's installer
}

// Measured returns the requirements of the bot of OnThisMachine, measured with llama3.2 and without a GPU
// (docs/performance.md). The wizard, the next steps of init, the project's README.md and vbot's own README.md
// state them. Ollama's installer has 1.6 GB for Linux, 1.8 GB for Windows, and less for macOS.
func Measured() Requirements {
	return Requirements{
		Answers:     "about 4 s on two cores",
		Memory:      "5 GB of memory",
		BotMemory:   "0.8 GB",
		ModelMemory: "3.8 GB",
		Downloads:   "3 GB",
		Ollama:      "up to 2 GB",
	}
}
