package bot

// The measured requirements of the bot of OnThisMachine, with llama3.2 and without a GPU. The wizard, the
// next steps of init, the project's README.md and vbot's own README.md state them. Ollama's installer has
// 1.6 GB for Linux, 1.8 GB for Windows, and less for macOS.
const (
	MachineAnswers   = "about 4 s on two cores" // from the end of a question to the first sound
	MachineMemory    = "5 GB of memory"         // of the bot and its model
	MachineBot       = "0.8 GB"                 // of it, at most
	MachineModel     = "3.8 GB"                 // of it
	MachineDownloads = "3 GB"                   // packages and models, llama3.2 included
	OllamaDownload   = "up to 2 GB"
)
