package store

import "testing"

// A file system in user space says by its name whether it is of another machine.
func TestWhereAPathIsMounted(t *testing.T) {
	const table = `22 1 0:21 / / rw,relatime - ext4 /dev/vda rw
31 22 0:44 / /home/ada/remote rw,nosuid - fuse.sshfs ada@host: rw,user_id=0
32 22 0:45 / /home/ada/a\040vault rw - fuse.gocryptfs /home/ada/.vault rw
33 31 0:46 / /home/ada/remote/local rw master:1 shared:2 - ext4 /dev/vdb rw
broken
35 22 0:48 / / rw - 
34 22 0:47 /
`
	for path, want := range map[string]bool{
		"/home/ada/agentx.db":              false,
		"/home/ada/remote/x/agentx.db":     true,
		"/home/ada/remotely/agentx.db":     false,
		"/home/ada/remote/local/agentx.db": false,
		"/home/ada/a vault/agentx.db":      false,
	} {
		if got := far(mountedAs(table, path)); got != want {
			t.Errorf("%s lies far away: %v, want %v", path, got, want)
		}
	}
}
