package recall

import (
	"fmt"
	"maps"
	"slices"

	"engram/activation"
)

// Setting is a constant that memories are weighed by.
type Setting struct {
	Name  string
	Value float64
}

// Settings lists the constants of promotion: exponents, floors, thresholds.
func Settings() []Setting {
	wm, rows, th := activation.DefaultRules(), rowRules(), activation.DefaultThresholds()
	f := wm.Factors
	out := []Setting{
		{"activation exponent", wm.Exponent},
		{"salience exponent", f.Salience},
		{"recency exponent", f.Recency},
		{"importance, up and down", f.Importance},
		{"confidence, down", f.Confidence},
		{"use, up", f.Use},
		{"use decay", f.UseDecay},
		{"recency floor", f.RecencyFloor},
		{"recency fresh, days", f.Fresh.Hours() / 24},
		{"recency fresh scale, days", f.FreshScale.Hours() / 24},
		{"recency old power", f.OldPower},
	}
	for _, tier := range slices.Sorted(maps.Keys(f.TierDecay)) {
		out = append(out, Setting{fmt.Sprintf("recency decay of %s", tier), f.TierDecay[tier]})
	}
	for _, l := range slices.Sorted(maps.Keys(th.Labels)) {
		out = append(out, Setting{"threshold of :" + l, th.Labels[l]})
	}
	for _, tier := range slices.Sorted(maps.Keys(th.Tiers)) {
		out = append(out, Setting{"threshold of " + tier, th.Tiers[tier]})
	}
	return append(out, []Setting{
		{"threshold of others", th.Other},
		{"threshold of structure", wm.Override},
		{"inhibition", wm.Inhibition},
		{"copies from a likeness of", wm.Similar},
		{"copies lose", wm.Lateral},
		{"copies among rows from a likeness of", rows.Similar},
		{"copies among rows lose", rows.Lateral},
		{"pressure, of the threshold", wm.Pressure},
		{"threshold under pressure, at least", wm.MinThreshold},
		{"working memory, nodes", float64(wm.Capacity)},
		{"working memory fades to", wm.Fade},
		{"working memory lets go below", wm.Least},
	}...)
}
