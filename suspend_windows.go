package main

import "os"

// A console program of Windows cannot be stopped and sent on by its user.

func watchStops(bool) <-chan os.Signal { return nil }

func asksToStop(os.Signal) bool { return false }

func suspend() bool { return false }
