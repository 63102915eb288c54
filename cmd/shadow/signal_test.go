package main

import (
	"os"
	"os/signal"
)

func notify(c chan<- os.Signal, s ...os.Signal) { signal.Notify(c, s...) }
