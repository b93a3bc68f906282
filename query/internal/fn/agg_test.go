package fn

import (
	"fmt"
	"math"
	"testing"

	"engram/graph/value"
)

// aggregate adds each row's arguments; a row that is not a list is one argument.
func aggregate(t testing.TB, name string, distinct bool, rows ...any) string {
	t.Helper()
	a, ok := LookupAggregate(name)
	if !ok {
		t.Fatalf("no aggregate %s", name)
	}
	agg := a.New()
	if distinct {
		agg = Distinct(agg)
	}
	for _, row := range rows {
		args, ok := row.(list)
		if !ok {
			args = list{row}
		}
		if err := agg.Add(vals(t, args...)); err != nil {
			return outcome(value.Null, err)
		}
	}
	return outcome(agg.Result())
}

func TestAggregates(t *testing.T) {
	nan := math.NaN()
	const maxInt, minInt = math.MaxInt64, math.MinInt64
	cases := []struct {
		name string
		rows []any
		want string
	}{
		{"count", nil, "0"},
		{"count", list{list{}, list{}}, "2"},
		{"count", list{1, nil, "a"}, "2"},
		{"collect", nil, "[]"},
		{"collect", list{2, nil, 1}, "[2, 1]"},
		{"sum", nil, "0"},
		{"sum", list{nil}, "0"},
		{"sum", list{1, nil, 2}, "3"},
		{"sum", list{1, 0.5}, "1.5"},
		{"sum", list{0.1, 0.2, 0.3}, "0.6"},
		{"sum", list{1e100, 1.0, -1e100}, "1.0"},
		{"sum", list{maxInt, maxInt, minInt, minInt}, "-2"},
		{"sum", list{maxInt, 1}, "ArithmeticError IntegerOverflow"},
		{"sum", list{maxInt, 1, -1}, "9223372036854775807"},
		{"sum", list{minInt, -1}, "ArithmeticError IntegerOverflow"},
		{"sum", list{maxInt, 1, 0.0}, "9.223372036854776E18"},
		{"sum", list{math.Inf(1), 1.0}, "Inf"},
		{"sum", list{nan, 1.0}, "NaN"},
		{"sum", list{"a"}, "TypeError InvalidArgumentValue"},
		{"avg", nil, "null"},
		{"avg", list{1, 2, nil}, "1.5"},
		{"avg", list{maxInt, maxInt}, "9.223372036854776E18"},
		{"avg", list{true}, "TypeError InvalidArgumentValue"},
		{"min", nil, "null"},
		{"min", list{nil, 2, 1, 3.5}, "1"},
		{"max", list{nil, 2, 1, 3.5}, "3.5"},
		{"max", list{1, "a", list{list{1}}}, "1"},
		{"min", list{1, "a", list{list{1}}}, "[1]"},
		{"max", list{1, nan}, "NaN"},
		{"percentileDisc", nil, "null"},
		{"percentileDisc", list{list{10, 0.0}, list{20, 0.0}, list{30, 0.0}}, "10"},
		{"percentileDisc", list{list{10, 0.5}, list{30, 0.5}, list{20, 0.5}}, "20"},
		{"percentileDisc", list{list{10, 1.0}, list{30, 1.0}, list{20, 1.0}}, "30"},
		{"percentileCont", list{list{10, 0.25}, list{20, 0.25}, list{nil, 0.25}}, "12.5"},
		{"percentileCont", list{list{10, 1}, list{20, 1}}, "20.0"},
		{"percentileCont", list{list{10, 1.1}}, "ArgumentError NumberOutOfRange"},
		{"percentileCont", list{list{10, nan}}, "ArgumentError NumberOutOfRange"},
		{"percentileDisc", list{list{10, -1}}, "ArgumentError NumberOutOfRange"},
		{"percentileDisc", list{list{10, "a"}}, "TypeError InvalidArgumentValue"},
		{"stDev", nil, "0.0"},
		{"stDev", list{5}, "0.0"},
		{"stDev", list{2, 4, 4, 4, 5, 5, 7, 9}, "2.138089935299395"},
		{"stDevP", list{2, 4, 4, 4, 5, 5, 7, 9}, "2.0"},
		{"stDevP", list{1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}, "4.743416490252569"},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s%v", c.name, c.rows), func(t *testing.T) {
			if got := aggregate(t, c.name, false, c.rows...); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestDistinctAggregates(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		rows []any
		want string
	}{
		{"count", list{1, 1.0, "1", nil, nan, nan}, "3"},
		{"collect", list{2, 1, 2.0, nil, 1}, "[2, 1]"},
		{"sum", list{1, 1, 2}, "3"},
		{"collect", list{list{list{1, nil}}, list{list{1, nil}}}, "[[1, null]]"},
	} {
		if got := aggregate(t, c.name, true, c.rows...); got != c.want {
			t.Errorf("%s(DISTINCT %v) = %s, want %s", c.name, c.rows, got, c.want)
		}
	}
}

func TestCollectResultIsItsOwn(t *testing.T) {
	c := &collector{}
	for i := range 3 {
		if err := c.Add(vals(t, i)); err != nil {
			t.Fatal(err)
		}
	}
	first, _ := c.Result()
	if err := c.Add(vals(t, 9)); err != nil {
		t.Fatal(err)
	}
	if got := first.String(); got != "[0, 1, 2]" {
		t.Errorf("the list changed afterwards: %s", got)
	}
	if c.Size() < 4*valueSize {
		t.Errorf("size is only %d", c.Size())
	}
}

func TestAggregatesOfDurations(t *testing.T) {
	day, hour := value.OfDuration(value.Duration{Days: 1}), value.OfDuration(value.Duration{Seconds: 3600})
	for _, c := range []struct {
		name string
		rows []value.Value
		want string
	}{
		{"sum", []value.Value{day, value.Null, hour}, "P1DT1H"},
		{"avg", []value.Value{day, day, hour, hour}, "PT12H30M"},
		{"avg", []value.Value{value.Null}, "null"},
	} {
		a, _ := LookupAggregate(c.name)
		agg := a.New()
		for _, v := range c.rows {
			if err := agg.Add([]value.Value{v}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := agg.Result()
		if err != nil || got.ToString() != c.want {
			t.Errorf("%s(%v) = %s, %v; want %s", c.name, c.rows, got.ToString(), err, c.want)
		}
	}
	for _, rows := range [][]value.Value{{day, value.Int(1)}, {value.Int(1), day}, {value.Float(1), day}} {
		a, _ := LookupAggregate("sum")
		agg := a.New()
		err := agg.Add(rows[:1])
		if err == nil {
			err = agg.Add(rows[1:])
		}
		if got := outcome(value.Null, err); got != "TypeError InvalidArgumentValue" {
			t.Errorf("sum(%v) gave %s", rows, got)
		}
	}
}

// Many runs give what one sort would: the value at every percentile.
func TestPercentileOfManyValues(t *testing.T) {
	n := 3*sortedRun + 17
	for i := 0; i <= 10; i++ {
		a, _ := LookupAggregate("percentileDisc")
		agg := a.New()
		for j := range n {
			v := value.Int(int64(j * 7919 % n)) // each number below n once
			if err := agg.Add([]value.Value{v, value.Float(float64(i) / 10)}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := agg.Result()
		want := max(int64(math.Ceil(float64(i)/10*float64(n)))-1, 0)
		if err != nil || got.AsInt() != want {
			t.Errorf("percentile %d0: got %v, %v; want %d", i, got, err, want)
		}
	}
}
