package fn

import (
	"math"
	"strconv"
	"strings"

	"engram/graph/value"
	"engram/query/internal/fault"
)

// maxDecimals is more decimals than any float has.
const maxDecimals = 1100

// round rounds the shortest decimal text of a number, so that round(2.675, 2) is
// 2.68 as written and not what the binary fraction below it would give. Ties go
// up when only the number is given, else away from zero unless a mode is given.
func round(_ *Context, args []value.Value) (value.Value, error) {
	x, decimals, mode := args[0].AsFloat(), int64(0), "HALF_UP"
	if len(args) == 1 {
		if math.Abs(x) >= 1<<52 || math.IsNaN(x) {
			return value.Float(x), nil
		}
		f := math.Floor(x)
		if x-f >= 0.5 {
			f++
		}
		return value.Float(f), nil
	}
	p := args[1].AsFloat()
	if p != math.Trunc(p) || p < 0 {
		return value.Null, outOfRange("the decimals of round() must be a whole number from 0 on")
	}
	decimals = int64(math.Min(p, maxDecimals))
	if len(args) == 3 {
		mode = strings.ToUpper(args[2].AsString())
	}
	switch mode {
	case "UP", "DOWN", "CEILING", "FLOOR", "HALF_UP", "HALF_DOWN", "HALF_EVEN":
	default:
		return value.Null, fault.AtRuntime(fault.ArgumentError, "InvalidArgumentValue",
			"round() has no mode '%s'", args[2].AsString()).
			WithHint("The modes are UP, DOWN, CEILING, FLOOR, HALF_UP, HALF_DOWN and HALF_EVEN.")
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return value.Float(x), nil
	}
	return value.Float(roundDecimal(x, int(decimals), mode)), nil
}

func roundDecimal(x float64, decimals int, mode string) float64 {
	whole, frac, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'f', -1, 64), ".")
	if len(frac) <= decimals {
		return x
	}
	negative := math.Signbit(x)
	digits, rest := []byte("0"+whole+frac[:decimals]), frac[decimals:]
	if roundsAway(digits[len(digits)-1], rest, negative, mode) {
		i := len(digits) - 1
		for ; digits[i] == '9'; i-- {
			digits[i] = '0'
		}
		digits[i]++
	}
	cut := len(digits) - decimals
	// The text is digits with a point: parsing cannot fail.
	f, _ := strconv.ParseFloat(string(digits[:cut])+"."+string(digits[cut:])+"0", 64)
	if negative {
		return -f
	}
	return f
}

// roundsAway decides whether a number whose kept part ends in digit last goes
// away from zero when the decimals of rest are dropped. Rest is not all zeros:
// the shortest text of a float has no trailing ones.
func roundsAway(last byte, rest string, negative bool, mode string) bool {
	if strings.Trim(rest, "0") == "" {
		return false
	}
	half := strings.Compare(rest, "5") // rest has no trailing zeros
	switch mode {
	case "UP":
		return true
	case "DOWN":
		return false
	case "CEILING":
		return !negative
	case "FLOOR":
		return negative
	case "HALF_DOWN":
		return half > 0
	case "HALF_EVEN":
		return half > 0 || half == 0 && (last-'0')%2 == 1
	}
	return half >= 0
}
