//go:build unix

package store

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentx/engine/event"
)

// A row is a fault of the store (53–81), or of a process and its signals
// (82–97), and what shows that it is borne: a word of a file, from here. Those
// that take root, strace or a small disk are skipped where there is none.
type faultRow struct {
	fault string
	shown []string
}

func faultRows() map[int]faultRow {
	return map[int]faultRow{
		53: {"killed at any time", []string{"kill_test.go: func TestKilledWhileStreaming", "mend_test.go: func TestADeathIsAnInterruption", "../cmd/chat_test.go: func TestChatKilled"}},
		54: {"killed at any write and sync", []string{"strace_test.go: func TestKilledAtAnyWrite"}},
		55: {"the power goes", []string{"powercut_test.go: func TestThePowerGoes"}},
		56: {"the disk is full before", []string{"open_test.go: func TestFullDiskIsRead", "open_test.go: func TestDiskFull", "../cmd/faults_test.go: func TestDiskWithoutRoom"}},
		57: {"the disk is full while an answer comes", []string{"fault_test.go: func TestWhatIsOwedIsSavedLater", "strace_test.go: ENOSPC", "../cmd/faults_test.go: func TestUnkept", "../engine/runtime/agent_test.go: this conversation is not being saved since"}},
		58: {"a sync fails", []string{"strace_test.go: func TestNothingIsPromisedAfterAFailedSync", "fault_test.go: func TestADiskThatCannotBeTrusted"}},
		59: {"reading and writing fail", []string{"strace_test.go: func TestADiskThatFails", "strace_test.go: pread64"}},
		60: {"a file system that is read-only", []string{"../cmd/faults_test.go: func TestDiskThatIsReadOnly", "open_test.go: func TestReadOnly"}},
		61: {"somebody else's folder", []string{"../cmd/faults_test.go: func TestSomebodyElsesFiles"}},
		62: {"something else in its place", []string{"open_test.go: func TestForeignFilesAreRefused", "open_test.go: func TestPlacesWhereNoDatabaseCanBe", "open_test.go: func TestAnEmptyFileIsNewAndALinkIsFollowed"}},
		63: {"damage", []string{"damage_test.go: func TestAnyPageIsLost", "damage_test.go: func TestAFileIsCut", "damage_test.go: func TestDamageIsRemembered", "damage_test.go: func TestAllOfASoundDatabaseIsRecovered", "../testdata/scripts/damage.txtar: --recover new.db"}},
		64: {"what lies beside is not its own", []string{"damage_test.go: func TestWhatLiesBesideIsNotItsOwn"}},
		65: {"a newer schema", []string{"open_test.go: from the future"}},
		66: {"an older schema", []string{"upgrade_test.go: func TestADatabaseOfTheFirstVersionKeepsEverything", "open_test.go: func TestMigrationsRunOnceAndWhole", "strace_test.go: func TestKilledWhileMigrating"}},
		67: {"no room for the copy before a migration", []string{"rows_test.go: func TestNoRoomForTheCopy"}},
		68: {"two processes, two sessions", []string{"model_test.go: func TestManyAgentsAtOnce", "branches_test.go: func TestTwoRuntimesOneDatabase"}},
		69: {"two processes, one session", []string{"session_test.go: func TestOneWriterForASession", "../cmd/chat_test.go: func TestChatInUse"}},
		70: {"a lease that nobody holds", []string{"damage_test.go: func TestALeaseThatNobodyHolds"}},
		71: {"somebody reads for very long", []string{"damage_test.go: func TestALongReader", "../cmd/faults_test.go: func TestSwollenLogIsToldOnce", "../cmd/faults_test.go: func TestSwollenLog("}},
		72: {"a long session", []string{"scale_test.go: func TestResumeOfALongSession"}},
		73: {"a network file system", []string{"damage_test.go: func TestRefusedOnANetwork", "session_test.go: func TestOnANetwork", "disk_linux_test.go: func TestWhereAPathIsMounted"}},
		74: {"a sandbox", []string{"strace_test.go: func TestInASandbox"}},
		75: {"modes, paths, and no home", []string{"open_test.go: func TestFilesBelongToTheirOwnerAlone", "../config/paths_test.go: func TestPaths", "../config/paths_unix_test.go: func TestModesWhateverTheMask"}},
		76: {"a clock that goes back", []string{"rows_test.go: func TestAClockThatGoesBack", "../cmd/clock_test.go: func TestSteadyClockNeverGoesBack"}},
		77: {"a copy while it is written", []string{"open_test.go: func TestBackupIsWholeAndOverwritesNothing", "../testdata/scripts/branches.txtar: session import"}},
		78: {"hostile titles and searches", []string{"session_test.go: DROP TABLE", "session_test.go: func TestSearchTakesNoSignForMoreThanItIs", "session_test.go: func FuzzSearch"}},
		79: {"limits of the shell", []string{"../cmd/faults_test.go: func TestLimitsOfTheShell"}},
		80: {"a folder that goes", []string{"../cmd/faults_test.go: func TestFolderThatGoes"}},
		81: {"a storm of cancellations", []string{"damage_test.go: func TestAStormOfCancellations", "model_test.go: func TestACancelledContextStillSaves"}},
		82: {"signals", []string{"../cmd/chat_test.go: func TestChatSignals", "../tui/run_test.go: func TestSignals", "../testdata/scripts/failures.txtar: interrupt stopped"}},
		83: {"signals at once, and several", []string{"../cmd/faults_test.go: func TestSignalsAtTheBeginning", "../testdata/scripts/failures.txtar: TERM TWICE"}},
		84: {"panics", []string{"../cmd/crash_test.go: func TestACrashIsReported", "../tui/run_test.go: func TestPanicInUpdate", "../cmd/world_test.go: func TestHandlersThatPanicAreHeardOf"}},
		85: {"what cannot be caught", []string{"../.ci/run: race=-race", "../engine/driver/guide/manual/09-trouble.md: `reset` puts it right"}},
		86: {"kill -9", []string{"../cmd/chat_test.go: func TestChatKilled", "../cmd/branches_test.go: func TestChatKilledOnABranch"}},
		87: {"suspended", []string{"../cmd/chat_test.go: func TestChatSuspended", "../cmd/chat_test.go: func TestChatStoppedFromOutside"}},
		88: {"the window is closed", []string{"../cmd/chat_test.go: func TestChatHangUp"}},
		89: {"the input has ended", []string{"../cmd/chat_test.go: func TestChatHangUp", "../cmd/input_test.go: func TestAPipeThatNeverEnds"}},
		90: {"whoever reads has had enough", []string{"../cmd/faults_test.go: code != 141"}},
		91: {"an output without room", []string{"../testdata/scripts/oneshot.txtar: it is saved in session"}},
		92: {"a slow reader", []string{"../cmd/faults_test.go: func TestReaders"}},
		93: {"an end that hangs", []string{"../cmd/chat_test.go: func TestChatStuck", "../tui/run_test.go: func TestStuckTerminal"}},
		94: {"children", []string{"../cmd/shell_test.go: func TestStopCommand"}},
		95: {"many begin at once", []string{"open_test.go: func TestManyOpenAnEmptyFolderAtOnce", "../cmd/faults_test.go: func TestManyBeginAtOnce"}},
		96: {"dumps of the memory", []string{"../cmd/undumped_linux_test.go: func TestNoDump"}},
		97: {"goroutines that stay", []string{"main_test.go: goleak.VerifyTestMain", "../engine/driver/wire/kit_test.go: func TestFiveHundredTurns"}},
	}
}

// TestEveryRow keeps the table of faults whole, and true.
func TestEveryRow(t *testing.T) {
	all := faultRows()
	for n := 53; n <= 97; n++ {
		t.Run(fmt.Sprintf("%d %s", n, all[n].fault), func(t *testing.T) {
			if len(all[n].shown) == 0 {
				t.Error("nothing shows that it is borne")
			}
			for _, shown := range all[n].shown {
				file, word, _ := strings.Cut(shown, ": ")
				text, err := os.ReadFile(file)
				before, _, _ := strings.Cut(string(text), "\nfunc faultRows")
				_, after, _ := strings.Cut(string(text), "\nfunc TestEveryRow")
				if err != nil || !strings.Contains(before+after, word) {
					t.Errorf("%s says nothing of %q: %v", file, word, err)
				}
			}
		})
	}
}

// Before a migration there must be room for a copy: else nothing is begun, and it
// is told how much is needed.
func TestNoRoomForTheCopy(t *testing.T) {
	dir := t.TempDir()
	old, err := os.ReadFile(first(t))
	if err != nil {
		t.Fatal(err)
	}
	size := len(old)/1024*3/2 + 64
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dk", size), "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no small disk to be had: %s", out)
	}
	defer exec.Command("umount", dir).Run()
	path := filepath.Join(dir, "a.db")
	if err := os.WriteFile(path, old, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), path, Options{})
	if err == nil || !strings.Contains(err.Error(), "bytes are needed") || !strings.Contains(err.Error(), ErrDiskFull.Error()) {
		t.Errorf("Open() = %v, want how much room is needed", err)
	}
	if after, _ := os.ReadFile(path); string(after) != string(old) {
		t.Error("the file was changed")
	}
	if copies := glob(t, filepath.Join(dir, "a-v*")); len(copies) > 0 {
		t.Errorf("%v is left", copies)
	}
}

// A clock that goes back by an hour changes the order of nothing.
func TestAClockThatGoesBack(t *testing.T) {
	db := fresh(t)
	begin(t, db, "s")
	p := db.Presenter("s")
	now := time.UnixMilli(1_700_000_000_000)
	for turn := range 4 {
		for _, d := range []event.Data{
			event.UserMessage{ID: fmt.Sprint("u", turn), Content: event.Say(fmt.Sprint("question ", turn))},
			event.AssistantMessage{ID: fmt.Sprint("m", turn), Content: event.Parts{event.Text{Text: "answer"}}},
			event.TurnResponse{TurnID: fmt.Sprint("turn_u", turn), MessageID: fmt.Sprint("u", turn)},
		} {
			if err := p.Present(t.Context(), "", event.Event{At: now, Data: d}); err != nil {
				t.Fatal(err)
			}
		}
		now = now.Add(-time.Hour)
	}
	log, err := db.Events(t.Context(), "s")
	var asked []string
	for _, e := range log {
		if m, ok := e.Data.(event.UserMessage); ok {
			asked = append(asked, m.ID)
		}
	}
	if got := strings.Join(asked, " "); err != nil || got != "u0 u1 u2 u3" {
		t.Errorf("the order is %s, %v", got, err)
	}
	sane(t, db)
}
