package main

// suspend does nothing: a console program of Windows cannot be stopped and sent
// on by its user.
func suspend() {}
