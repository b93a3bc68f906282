package chatbridge_test

import (
	"os"
	"testing"

	"engram/graph/mutationtest"
)

// TestMutations breaks the loop in turn and shows that the named test turns red. It is
// for the long run; that the mistakes can be made is looked at always.
func TestMutations(t *testing.T) {
	const pkg = "./chatbridge"
	mutationtest.Run(t, "..", os.Getenv("ENGRAM_LONG") != "", mutationtest.Options{Args: []string{"-short", "-vet=off"}}, []mutationtest.Mutation{
		{
			Name: "texts are encoded twice", File: "chatbridge/tools.go", Package: pkg, Run: "TestClasses/argument_torture",
			From: "\t\t\treturn s, nil\n", To: "\t\t\te, _ := json.Marshal(s)\n\t\t\treturn string(e[1 : len(e)-1]), nil\n",
		},
		{
			Name: "a call stays without its result", File: "chatbridge/consent.go", Package: pkg, Run: "TestClasses/parallel",
			From: ".Results(s.Results)...)", To: ".Results(s.Results[1:])...)",
		},
		{
			Name: "a run goes on on any wire", File: "chatbridge/loop.go", Package: pkg, Run: "TestResumesOnItsWireOnly",
			From: "p.Provider.Name == s.Provider && p.Provider.Wire == s.Wire", To: "p.Provider.Name == s.Provider",
		},
		{
			Name: "receipts are lost", File: "chatbridge/turns.go", Package: pkg, Run: "TestConversationsAndReceipts",
			From: `if t.Receipt != "" {`, To: "if false {",
		},
		{
			Name: "ceilings begin anew with an approval", File: "chatbridge/send.go", Package: pkg, Run: "TestCeilingsSpanSuspensions",
			From: "\trun.restore(events)\n", To: "\trun.restore(events)\n\ts.Usage = Usage{}\n",
		},
		{
			Name: "deltas do not wait while a bell rings", File: "chatbridge/loop.go", Package: pkg, Run: "TestDeltasWaitWhileABellRings",
			From: "!s.quiet && !s.Bell &&", To: "!s.quiet &&",
		},
		{
			Name: "replies are not validated", File: "chatbridge/validate.go", Package: pkg, Run: "TestValidate",
			From: "b.rules.broken(raw, s.Bell); rule != nil {", To: "b.rules.broken(raw, s.Bell); rule != nil && false {",
		},
		{
			Name: "deltas of a reply that was replaced stay", File: "chatbridge/validate.go", Package: pkg, Run: "TestValidate",
			From: "\t\trun.withdraw()\n", To: "",
		},
		{
			Name: "words are not screened", File: "chatbridge/loop.go", Package: pkg, Run: "TestWorkedExampleOnEveryDoor",
			From: "b.screen(ctx, s, s.Said)", To: `b.screen(ctx, s, "")`,
		},
		{
			Name: "imitated receipts stay", File: "chatbridge/turns.go", Package: pkg, Run: "TestConversationsAndReceipts",
			From: `return imitation.ReplaceAllString(text, "")`, To: "_ = imitation\n\treturn text",
		},
	})
}
