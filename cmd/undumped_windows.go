package cmd

func noCore() {}
