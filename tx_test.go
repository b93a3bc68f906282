package engram_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"engram"
)

const countAll = "MATCH (n) RETURN count(n)"

// txNumber returns the only value of a result inside a transaction.
func txNumber(t *testing.T, tx *engram.Tx, text string) int64 {
	t.Helper()
	res, err := tx.Query(context.Background(), text, nil)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return res.Rows[0][0].AsInt()
}

func TestUpdateIsAllOrNothing(t *testing.T) {
	db := memory(t, nil)
	ctx := context.Background()
	mine := errors.New("mine")
	err := db.Update(ctx, func(tx *engram.Tx) error {
		if _, err := tx.Query(ctx, "CREATE (:N), (:N)", nil); err != nil {
			return err
		}
		if n := txNumber(t, tx, countAll); n != 2 {
			t.Errorf("the transaction sees %d of its nodes", n)
		}
		if n := number(t, db, countAll); n != 0 {
			t.Errorf("others see %d nodes", n)
		}
		return mine
	})
	if !errors.Is(err, mine) {
		t.Errorf("the error is %v", err)
	}
	if n := number(t, db, countAll); n != 0 {
		t.Errorf("%d nodes stayed", n)
	}
	if err := db.Update(ctx, func(tx *engram.Tx) error {
		_, err := tx.Query(ctx, "CREATE (:N), (:N)", nil)
		return err
	}); err != nil {
		t.Error(err)
	}
	if n := number(t, db, countAll); n != 2 {
		t.Errorf("%d nodes", n)
	}
}

func TestViewShowsOneMoment(t *testing.T) {
	db := memory(t, nil)
	query(t, db, "CREATE (:N {v: 1})", nil)
	err := db.View(context.Background(), func(tx *engram.Tx) error {
		query(t, db, "MATCH (n) SET n.v = 2", nil)
		query(t, db, "CREATE (:N {v: 3})", nil)
		if n := txNumber(t, tx, "MATCH (n) RETURN sum(n.v)"); n != 1 {
			t.Errorf("the view sees a sum of %d", n)
		}
		_, err := tx.Query(context.Background(), "CREATE ()", nil)
		if !engram.IsCode(err, engram.CodeReadOnly) {
			t.Errorf("writing in a view: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if n := number(t, db, "MATCH (n) RETURN sum(n.v)"); n != 5 {
		t.Errorf("the sum is %d", n)
	}
}

func TestAnErrorEndsAWritingTransaction(t *testing.T) {
	db := memory(t, nil)
	ctx := context.Background()
	tx, err := db.Begin(ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Query(ctx, "CREATE (:N)", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Query(ctx, "RETURN 1 +", nil); !engram.IsCode(err, engram.CodeSyntaxError) {
		t.Errorf("the error is %v", err)
	}
	if _, err := tx.Query(ctx, "RETURN 1", nil); !engram.IsCode(err, engram.CodeTxDone) {
		t.Errorf("after it: %v", err)
	}
	if err := tx.Commit(ctx); !engram.IsCode(err, engram.CodeTxDone) {
		t.Errorf("committing: %v", err)
	}
	query(t, db, "CREATE (:M)", nil) // the slot is free
	if n := number(t, db, countAll); n != 1 {
		t.Errorf("%d nodes", n)
	}
}

func TestIdleTransactionExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, err := engram.OpenMemory(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		ctx := context.Background()
		tx, err := db.Begin(ctx, true)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(1900 * time.Millisecond)
		if _, err := tx.Query(ctx, "CREATE (:N)", nil); err != nil {
			t.Fatalf("within the limit: %v", err)
		}
		time.Sleep(1900 * time.Millisecond) // the statement began a new idle time
		if _, err := tx.Query(ctx, "CREATE (:N)", nil); err != nil {
			t.Fatalf("within the limit again: %v", err)
		}
		time.Sleep(2001 * time.Millisecond)
		query(t, db, "CREATE (:Other)", nil) // the slot is free
		if _, err := tx.Query(ctx, "CREATE (:N)", nil); !engram.IsCode(err, engram.CodeTxExpired) {
			t.Errorf("the error is %v", err)
		}
		if err := tx.Commit(ctx); !engram.IsCode(err, engram.CodeTxExpired) {
			t.Errorf("committing: %v", err)
		}
		if n := number(t, db, countAll); n != 1 {
			t.Errorf("%d nodes", n)
		}
	})
}

func TestBusyTransactionExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, err := engram.OpenMemory(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		ctx := context.Background()
		tx, err := db.Begin(ctx, true)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			if _, err = tx.Query(ctx, "CREATE (:N)", nil); err != nil {
				if i < 10 {
					t.Errorf("statement %d: %v", i, err)
				}
				break
			}
			time.Sleep(900 * time.Millisecond)
		}
		if !engram.IsCode(err, engram.CodeTxExpired) {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestIdempotencyKey(t *testing.T) {
	db := memory(t, nil)
	ctx := context.Background()
	var seqs []uint64
	for range 2 {
		tx, err := db.Begin(ctx, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Query(ctx, "CREATE (:N)", nil); err != nil {
			t.Fatal(err)
		}
		seq, err := tx.CommitSeq(ctx, "order-1")
		if err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, seq)
	}
	if seqs[0] != seqs[1] || number(t, db, countAll) != 1 {
		t.Errorf("committed at %v, %d nodes", seqs, number(t, db, countAll))
	}
	if seq, ok, err := db.Committed("order-1"); !ok || seq != seqs[0] || err != nil {
		t.Errorf("the key tells %d, %v, %v", seq, ok, err)
	}
	if _, ok, err := db.Committed("order-2"); ok || err != nil {
		t.Errorf("an unused key tells %v, %v", ok, err)
	}
}

func TestErrorsOfStatements(t *testing.T) {
	db := memory(t, nil)
	query(t, db, "CREATE (:N {id: 'a'})-[:R]->(:N {id: 'b'})", nil)
	for text, want := range map[string]struct {
		code   engram.Code
		detail string
	}{
		"MATCH (n":                     {engram.CodeSyntaxError, "UnexpectedSyntax"},
		"RETURN $missing":              {engram.CodeParameterMissing, "MissingParameter"},
		"CREATE (:N {id: 'a'})":        {engram.CodeConstraintViolated, "ConstraintValidationFailed"},
		"MATCH (n {id: 'a'}) DELETE n": {engram.CodeConstraintViolated, "DeleteConnectedNode"},
		"CREATE (:N {x: {a: 1}})":      {engram.CodeTypeError, "InvalidPropertyType"},
	} {
		_, err := db.Query(context.Background(), text, nil)
		var e *engram.Error
		if !errors.As(err, &e) || e.Code != want.code || e.Detail != want.detail {
			t.Errorf("%s: %#v", text, err)
		}
	}
	if n := number(t, db, countAll); n != 2 {
		t.Errorf("%d nodes", n)
	}
	if _, err := db.Query(context.Background(), "RETURN $x", map[string]any{"x": make(chan int)}); !engram.IsCode(err, engram.CodeInvalidArgument) {
		t.Errorf("a channel as a parameter: %v", err)
	}
}

func TestAfterClose(t *testing.T) {
	db, err := engram.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := db.Query(context.Background(), "RETURN 1", nil); !engram.IsCode(err, engram.CodeClosed) {
		t.Errorf("reading gives %v", err)
	}
	if _, err := db.Query(context.Background(), "CREATE ()", nil); !engram.IsCode(err, engram.CodeClosed) {
		t.Errorf("writing gives %v", err)
	}
}

// The race detector sees a timer that fires before Begin has noted it.
func TestATransactionMayExpireAtOnce(t *testing.T) {
	db := memory(t, &engram.Options{TxIdle: 1})
	ctx := context.Background()
	for range 20 {
		if _, err := db.Begin(ctx, true); err != nil { // never ended: the next one waits for its end
			t.Fatal(err)
		}
	}
	if n := number(t, db, countAll); n != 0 {
		t.Errorf("%d nodes", n)
	}
}
