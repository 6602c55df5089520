package bot

func (p Project) CPURequest() string    { return "500m" }
func (p Project) MemoryRequest() string { return "1Gi" }
func (p Project) MemoryLimit() string   { return "2Gi" }
