package value

import (
	"reflect"
	"testing"
)

// A struct of more than four fields is kept in memory: comparing values then takes
// several times as long.
func TestValueFitsRegisters(t *testing.T) {
	v := reflect.TypeFor[Value]()
	if v.NumField() > 4 || v.Size() != 24 {
		t.Errorf("a Value has %d fields and %d bytes", v.NumField(), v.Size())
	}
}
