package faulttest

import (
	"testing"

	"engram/graph/mutationtest"
)

// mutation is a mistake that somebody could make; see mutationtest.Mutation.
type mutation struct {
	name     string
	file     string
	from, to string
	pkg, run string
}

var mutations = []mutation{
	{
		"bbolt does not sync", "graph/internal/store/bolt/open.go",
		"NoFreelistSync: true,", "NoFreelistSync: true, NoSync: true,",
		"./graph/internal/faulttest", "F03PowerLoss$",
	},
	{
		"one direction of adjacency is dropped", "graph/internal/topo/builder.go",
		"for d := range 2 {\n\t\t\tb.pack(d)", "for d := range 1 {\n\t\t\tb.pack(d)",
		"./graph/internal/faulttest", "F01Kill",
	},
	{
		"checksums are not compared", "graph/internal/record/envelope.go",
		"if binary.LittleEndian.Uint32(sealed[3:]) != s.sum(", "if false && binary.LittleEndian.Uint32(sealed[3:]) != s.sum(",
		"./graph/internal/faulttest", "F12BitFlips",
	},
	{
		"neighbours of what is not found are not verified", "graph/internal/commit/absent.go",
		"return r.around(space, key, func(k []byte) error {\n\t\tif bytes", "return nil\n}\n\nfunc (r *proven) unused(space store.Space, key []byte) error {\n\treturn r.around(space, key, func(k []byte) error {\n\t\tif bytes",
		"./graph/internal/faulttest", "F12BitFlips",
	},
	{
		"the layout of pages is not verified", "graph/internal/store/bolt/pages.go",
		"if fault := p.fault(v.size); fault != \"\"", "if fault := p.fault(v.size); false && fault != \"\"",
		"./graph/internal/store/bolt", "NoFlipOfStructure",
	},
	{
		"branches may lead to free pages", "graph/internal/store/bolt/pages.go",
		"return free != nil &&", "return false && free != nil &&",
		"./graph/internal/store/bolt", "OldVersion",
	},
	{
		"commits read pages that were not verified", "graph/internal/store/bolt/driver.go",
		"if err = verifyWays(d.pages, tx, spaces); err == nil {", "if err == nil {",
		"./graph/internal/store/bolt", "DamagedPageIsNotMadeSound",
	},
	{
		"roots are not compared", "graph/internal/store/bolt/roots.go",
		"if r.Tx == found.Tx && r != found {", "if false {",
		"./graph/internal/store/bolt", "SeqIsProtected",
	},
	{
		"the text index writes its seq in a batch of its own", "graph/internal/text/disk.go",
		"\tbatch.SetInternal(headerKey, h.encode())\n\treturn d.scorch.Batch(batch)",
		"\tif err := d.scorch.Batch(batch); err != nil {\n\t\treturn err\n\t}\n\tbatch.Reset()\n\tbatch.SetInternal(headerKey, h.encode())\n\treturn d.scorch.Batch(batch)",
		"./graph/internal/faulttest", "F02KillAtEveryCall|F03PowerLoss$",
	},
	{
		"writing goes on after a failed sync", "graph/internal/commit/committer.go",
		"if poison != nil {\n\t\te.poison = poison", "if false {\n\t\te.poison = poison",
		"./graph/internal/faulttest", "F07FsyncError",
	},
	{
		"ids start anew at each opening", "graph/ids.go",
		"= m.node+1, m.edge+1", "= 1, 1",
		"./graph/internal/faulttest", "F01Kill",
	},
	{
		"directories are not synced", "graph/internal/dir/layout.go",
		"errors.Join(d.Sync(), d.Close())", "errors.Join(d.Close())",
		"./graph/internal/faulttest", "F03PowerLoss",
	},
	{
		"the lock is waited for without end", "graph/internal/dir/lock.go",
		"flock(f, how|syscall.LOCK_NB)", "flock(f, how)",
		"./graph/internal/dir", "SecondOpenInThisProcess",
	},
	{
		"the text library tries again without a pause", "graph/internal/text/backoff.go",
		"{ time.Sleep(backoffPause) }", "{ _ = backoffPause }",
		"./graph/internal/faulttest", "F05FullIndexDisk",
	},
	{
		"a file that was replaced is written to", "graph/internal/store/bolt/driver.go",
		"if err := d.inPlace(); err != nil {", "if err := d.inPlace(); false {",
		"./graph/internal/store/bolt", "FileThatWasMoved",
	},
}

// TestMutations makes each mistake in turn and shows that the named test turns red. It
// takes a while, so it is for the long run.
func TestMutations(t *testing.T) {
	var list []mutationtest.Mutation
	for _, m := range mutations {
		list = append(list, mutationtest.Mutation{Name: m.name, File: m.file, From: m.from, To: m.to, Package: m.pkg, Run: m.run})
	}
	mutationtest.Run(t, "../../..", long(), mutationtest.Options{Env: []string{childEnv + "="}}, list)
}
