package receipt_test

import (
	"math"
	"testing"

	"engram/graph/value"
	"engram/query/internal/receipt"
)

// TestRoundTrip writes values of all kinds down and reads them again.
func TestRoundTrip(t *testing.T) {
	date, _ := value.ParseDate("2024-05-06")
	local, _ := value.ParseLocalDateTime("2024-05-06T07:08:09.000000001")
	zoned, _ := value.ParseDateTime("2024-05-06T07:08:09+02:00[Europe/Lisbon]")
	if zoned.Zone == "" {
		zoned, _ = value.ParseDateTime("2024-05-06T07:08:09+02:00")
	}
	clock, _ := value.ParseTime("07:08+01:00")
	clockless, _ := value.ParseLocalTime("07:08")
	span, _ := value.ParseDuration("P1M2DT3.5S")
	params := receipt.Parameters{
		"null": value.Null, "true": value.Bool(true), "int": value.Int(math.MaxInt64), "one": value.Float(1), "float": value.Float(0.1),
		"large": value.Float(1e300), "infinite": value.Float(math.Inf(-1)), "text": value.String("it's \"so\"\n漢"),
		"date": value.OfDate(date), "local": value.OfLocalDateTime(local), "zoned": value.OfDateTime(zoned),
		"time": value.OfTime(clock), "localtime": value.OfLocalTime(clockless), "span": value.OfDuration(span),
		"list": value.List([]value.Value{value.Int(1), value.List(nil)}),
		"map":  value.Map([]value.Prop{{Key: "a", Value: value.Int(1)}, {Key: "b", Value: value.OfDate(date)}}),
	}
	in := &receipt.Receipt{Statement: "RECALL $q", Parameters: params, Seq: 7, Rows: []receipt.Row{{ID: "a", Score: 0.1}}}
	text, err := in.Encode()
	if err != nil {
		t.Fatal(err)
	}
	out, err := receipt.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if out.Statement != in.Statement || out.Seq != 7 || out.Rows[0] != in.Rows[0] || len(out.Parameters) != len(params) {
		t.Errorf("read %+v", out)
	}
	for name, v := range params {
		if got := out.Parameters[name]; got.Kind() != v.Kind() || got.String() != v.String() {
			t.Errorf("%s is %s %s, want %s %s", name, got.Kind(), got, v.Kind(), v)
		}
	}
	if again, _ := out.Encode(); again != text {
		t.Errorf("written again it is\n%s\nnot\n%s", again, text)
	}
}

func TestWhatIsNoReceipt(t *testing.T) {
	for _, text := range []string{
		"", "x", "{}", "[]", `{"version": 99}`, `{"version": 1, "parameters": {"a": {"$type": "DATE", "text": "x"}}}`,
		`{"version": 1, "parameters": {"a": {"$type": "THING"}}}`, `{"version": 1, "parameters": {"a": 99999999999999999999}}`,
	} {
		if _, err := receipt.Decode(text); err == nil {
			t.Errorf("%s was read", text)
		}
	}
	if _, err := (&receipt.Receipt{Parameters: receipt.Parameters{"n": value.NodeRef(1)}}).Encode(); err == nil {
		t.Error("a node was written")
	}
}
